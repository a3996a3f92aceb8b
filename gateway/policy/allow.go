package policy

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// notMatched is the result of an allow rule for a different command.
const notMatched = "The rule is for another command"

// covers compares an allow rule with a command. no is the reason why it does not cover it, or "".
func (ma *matcher) covers(r *rule, c shell.Command) (cover coverage, no string) {
	words, pattern := c.Words, r.argv
	open, from := pattern[len(pattern)-1].rest, 1
	if open {
		if len(pattern) < 2 || !strings.HasPrefix(pattern[1].first(), "-") {
			from += leadingOptions(c.Name(), words, ma.resolver)
		}
		pattern = pattern[:len(pattern)-1]
	}
	at := []int{0} // the indexes of the words that the pattern is compared with
	for i := from; i < len(words); i++ {
		at = append(at, i)
	}
	cover = coverage{named: make([]bool, len(words)), exact: !open}
	if len(at) < len(pattern) || !open && len(at) > len(pattern) {
		return cover, notMatched
	}
	ended := false
	for i, g := range pattern {
		k := at[i]
		if no := g.mismatch(words[k], k > 0 && !isFlag(words[max(k-1, 0)].Text)); no != "" {
			return cover, no
		}
		if !g.literal() && isFlag(words[k].Text) && optionTables()[baseName(words[0].Text)] == nil {
			return cover, baseName(words[0].Text) + " " + shorten(words[k].Text) + " is not known to be harmless"
		}
		cover.named[k] = g.literal()
		cover.exact = cover.exact && g.literal()
		ended = ended || k > 0 && words[k].Text == "--"
	}
	for _, i := range at[len(pattern):] {
		w := words[i]
		switch {
		case readers[c.Name()] && commandOutput.MatchString(w.Text):
		case ma.isFound && (w.Text == "{}" || w.Text == "…") && (ma.call.Contained || readers[c.Name()]):
		case (ma.call.Contained && readers[c.Name()] || printsWord(c, i)) && isHarmlessText(w):
		case w.Dynamic || w.Ambiguous:
			return cover, unknownValue(w)
		case w.Glob && removesByName.MatchString(c.Name()+" "+w.Text): // no option has such a beginning and a dot
		case w.Glob && !ended && !readers[baseName(words[0].Text)] && strings.ContainsAny(w.Text[:1], "*?[-^#~"):
			return cover, shorten(w.Text) + " may match a file name that acts as an option; write ./" + shorten(w.Text)
		}
		ended = ended || w.Text == "--"
	}
	contains := func(at int) bool { return cover.has(at) || at == exactOnly && cover.exact }
	for _, h := range ma.missingWords(c, contains) {
		if !open || !ma.isContained(h, c, len(pattern) == 1) && !ma.mayWrite(h.files) {
			return cover, h.reason
		}
	}
	return cover, ""
}

// printsWord reports whether a program prints or compares word i as text, whatever it is. The first
// word of printf is its format, with which zsh and ksh may evaluate the others.
func printsWord(c shell.Command, i int) bool {
	if !plainExpansion.MatchString(c.Words[i].Text) {
		return false
	}
	if c.Name() == "printf" {
		return i > 1 && c.Words[1].Plain() && plainFormat.MatchString(c.Words[1].Text)
	}
	return printers[c.Name()]
}

// isHarmlessText reports whether a word is known only when the command runs, and may be shown.
func isHarmlessText(w shell.Word) bool {
	return w.Dynamic && !w.Ambiguous && !secretVariable.MatchString(w.Text)
}

var (
	// plainExpansion matches words in which the values of variables are not evaluated: an arithmetic
	// expression may run a command in such a value.
	plainExpansion = regexp.MustCompile("^([^$`]|\\$(\\w+|\\{\\w+\\}|[@*#?]|\\([^()`]*\\)|\\(\\([0-9+*/% -]*\\)\\)))*$")

	printers    = set("echo basename dirname seq sleep true false")
	plainFormat = regexp.MustCompile(`^[^-%][^%]*(%[s%][^%]*)*$|^(%[s%][^%]*)+$`)
)

// removesByName matches rm with a pattern for names that end alike.
var removesByName = regexp.MustCompile(`^rm \*[\w-]*(\.[\w-]+)+$`)

// commandOutput matches a word that is the output of a command, which is decided about separately. The
// shell passes it as the name of a pipe.
var commandOutput = regexp.MustCompile(`^<\([^()]*\)$`)

// mismatch returns the reason why the pattern of an allow rule does not cover a word, or "".
// isOperand means that a word in this place is not the value of the option before it.
func (g wordGlob) mismatch(w shell.Word, isOperand bool) string {
	switch {
	case w.Dynamic || w.Ambiguous:
		if g.any() {
			return unknownValue(w)
		}
		return notMatched
	case !g.match(w.Text) || g.open() && isFlag(w.Text) && isOperand:
		return notMatched // *.tmp means names, not the option -rf.tmp
	case !w.Plain():
		return unknownValue(w)
	case g.leavesFolder(w.Text):
		return shorten(w.Text) + " is outside the folder that the rule names"
	}
	return ""
}

// mayWrite reports whether rules allow writing all files, and none is protected.
func (ma *matcher) mayWrite(files []shell.Word) bool {
	fm := &fileMatcher{set: ma.set, call: ma.call, resolver: ma.resolver, rules: ma}
	fl := &floor{call: ma.call, resolver: ma.resolver}
	isAllowed := func(w shell.Word) bool {
		list, ok := ma.resolver.paths(w)
		return ok && fl.fileReason(list) == "" && slices.ContainsFunc(ma.set.files, func(r *rule) bool {
			return r.Verdict == Allow && ma.applies(r, "Write") && fm.allowsFiles(r, "redirect", list)
		})
	}
	return len(files) > 0 && !slices.ContainsFunc(files, func(w shell.Word) bool { return !isAllowed(w) })
}

// missingWords returns the words that a rule must contain to cover a command, but does not.
func (ma *matcher) missingWords(c shell.Command, contains func(at int) bool) []guard {
	hits := guardsOf(c, ma.resolver)
	named := slices.ContainsFunc(hits, func(h guard) bool { return h.goal && contains(h.at) })
	return slices.DeleteFunc(hits, func(h guard) bool { return contains(h.at) || h.goal && !named })
}

// wordGlob is a prepared word pattern.
type wordGlob struct {
	parts []string // the texts between the stars; one part means literal
	rest  bool     // ** at the end of argv
}

// first returns the text before the first star.
func (g wordGlob) first() string {
	if g.rest {
		return ""
	}
	return g.parts[0]
}

func (g wordGlob) literal() bool { return !g.rest && len(g.parts) == 1 }
func (g wordGlob) any() bool {
	return !g.rest && len(g.parts) == 2 && g.parts[0] == "" && g.parts[1] == ""
}

// open reports whether a pattern starts with a star but restricts the rest.
func (g wordGlob) open() bool { return !g.rest && len(g.parts) > 1 && g.parts[0] == "" && !g.any() }

func parseGlob(s string) (g wordGlob, err error) {
	if strings.Contains(s, "***") {
		return g, errors.New("has more than two stars in a row")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '*':
			b.WriteByte('*')
			i++
		case s[i] == '*':
			for i+1 < len(s) && s[i+1] == '*' {
				i++
			}
			g.parts = append(g.parts, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	g.parts = append(g.parts, b.String())
	return g, nil
}

func (g wordGlob) match(s string) bool {
	if len(g.parts) == 1 {
		return s == g.parts[0]
	}
	if !strings.HasPrefix(s, g.parts[0]) {
		return false
	}
	s = s[len(g.parts[0]):]
	last := len(g.parts) - 1
	for _, p := range g.parts[1:last] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, g.parts[last])
}

// leavesFolder reports whether a word that the pattern matches leaves the pattern's folder: docs/*
// does not mean docs/../x, and *.tmp does not mean /etc/x.tmp. A star alone matches any word.
func (g wordGlob) leavesFolder(s string) bool {
	if len(g.parts) == 1 || g.any() {
		return false
	}
	if g.parts[0] == "" && s != "" && (isAbs(s) || s[0] == '~') {
		return true
	}
	return parentCount(s) > parentCount(strings.Join(g.parts, "*"))
}

func parentCount(s string) (n int) {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '/' || r == '\\' || r == '=' || r == ':' || r == ',' }) {
		if part == ".." {
			n++
		}
	}
	return n
}

func parseArgv(argv []string, v Verdict) ([]wordGlob, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("argv is empty: it needs at least the program's name")
	}
	list := make([]wordGlob, len(argv))
	for i, s := range argv {
		if s == "**" {
			if i != len(argv)-1 {
				return nil, fmt.Errorf("argv has ** at place %d: it may only stand at the end", i+1)
			}
			list[i].rest = true
			continue
		}
		g, err := parseGlob(s)
		if err != nil {
			return nil, fmt.Errorf("argv pattern %q %w", s, err)
		}
		list[i] = g
	}
	if v == Allow && !list[0].literal() {
		return nil, fmt.Errorf("argv starts with %q: an allow must name its program", argv[0])
	}
	return list, nil
}

// matchesPath compares a strict pattern with a word, or with a path also in clean form.
func (g wordGlob) matchesPath(s string) bool {
	return g.match(s) || strings.Contains(s, "/") && g.match(path.Clean(s))
}
