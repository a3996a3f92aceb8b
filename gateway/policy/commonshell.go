package policy

import (
	"regexp"
	"strings"

	"fairlead/gateway/peer/shell"
)

// The language of fish and ksh is another one than bash's, but they read most everyday commands
// alike: words and plain quotes, joined by ; && || and |, with redirects to files. Such texts are
// decided as bash reads them; a comparison with the real shells tests it. Others need the exact
// text in a rule or a permission.

// commonShells read a common text as bash does.
var commonShells = class("commonShells")

// ownWords are names that only some of them know, or that change how later commands are read.
var ownWords = class("ownWords")

const (
	commonQuotes   = "'[^'\\\\\n]*'|\"[^\"\\\\$`!\n]*\""
	commonName     = `[A-Za-z0-9_./+-][A-Za-z0-9_./+-]*`
	commonWord     = `(?:~/)?(?:[A-Za-z0-9_./:+@,-][A-Za-z0-9_./:+=@,-]*|` + commonQuotes + `)+`
	commonRedirect = `2>&1|>&2|[12]?>>? ?` + commonWord + `|< ?` + commonWord
	commonCommand  = commonName + `(?: +(?:` + commonRedirect + `|` + commonWord + `))*`
)

var commonText = regexp.MustCompile(`^` + commonCommand + `(?: *(?:&&|\|\||[;|\n]) *` + commonCommand + `)*;?\n?$`)

// readsLikeBash reports whether a shell that the policy cannot parse reads a text as bash does.
func readsLikeBash(name, text string) bool {
	if !commonShells[shellName(name)] || len(text) > 32<<10 || !commonText.MatchString(text) {
		return false
	}
	f := shell.Analyze(text, shell.Bash)
	for _, c := range f.Commands {
		if ownWords[c.Words[0].Text] || isInteger(strings.TrimLeft(c.Words[0].Text, "+-")) {
			return false
		}
	}
	return len(f.Findings) == 0 && len(f.Commands) > 0
}
