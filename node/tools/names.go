package tools

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"fairlead/node/workspace"

	"github.com/bmatcuk/doublestar/v4"
)

// names compares file names with a glob. The globs that people write most are compared without one.
type names struct {
	glob   string
	all    bool
	exact  bool
	suffix string // for a star and text; empty when not
}

// maxVariants is how many globs without braces a glob may stand for. A name is compared with each of them, and every further pair of braces multiplies
// their number: twenty of them keep a processor busy for seconds with every name, which no context ends. maxNested is how deep braces may lie in one
// another: for each level all of the glob is written anew.
const (
	maxVariants = 1000
	maxNested   = 20
)

// checkGlob says why a glob, which is called what, cannot be used.
func checkGlob(what, glob string) error {
	switch {
	case !doublestar.ValidatePattern(glob):
		return failf("Invalid %s: %s", what, glob)
	case variants(glob) > maxVariants:
		return failf("Invalid %s: its braces stand for more than %d patterns, or lie too deep in one another. Search for fewer at a time.", what, maxVariants)
	}
	return nil
}

// variants is how many globs without braces a valid glob stands for, or maxVariants+1 for more, and for one whose braces lie too deep.
func variants(glob string) int {
	const more = maxVariants + 1
	type braces struct{ before, here int } // the alternatives that have ended, and the one that is read
	open := []braces{{0, 1}}
	for i := 0; i < len(glob); i++ {
		last := &open[len(open)-1]
		switch glob[i] {
		case '\\':
			i++
		case '[':
			for i++; i < len(glob) && glob[i] != ']'; i++ {
				if glob[i] == '\\' {
					i++
				}
			}
		case '{':
			if open = append(open, braces{0, 1}); len(open) > maxNested+1 {
				return more
			}
		case ',':
			if len(open) > 1 {
				*last = braces{min(last.before+last.here, more), 1}
			}
		case '}':
			if len(open) > 1 {
				n := last.before + last.here
				open = open[:len(open)-1]
				outer := &open[len(open)-1]
				outer.here = min(outer.here*n, more)
			}
		}
	}
	return open[0].here
}

// newNames takes a valid glob; an empty one is for all names.
func newNames(glob string) *names {
	n := &names{glob: glob}
	switch rest := strings.TrimLeft(glob, "*"); {
	case rest == "":
		n.all = true
	case strings.ContainsAny(rest, `*?[]{}\/`) || strings.ContainsRune(glob, filepath.Separator):
	case rest == glob:
		n.exact = true
	default:
		n.suffix = rest
	}
	return n
}

func (n *names) match(name string) bool {
	switch {
	case n.all:
		return true
	case n.exact:
		return name == n.glob
	case n.suffix != "":
		return strings.HasSuffix(name, n.suffix)
	}
	return matches(n.glob, name)
}

// spelledInGlob finds what [workspace.Spell] writes, quoted for a glob or not.
var spelledInGlob = regexp.MustCompile(`\\{1,2}x(5C|[89A-F][0-9A-F])`)

// rawGlob is a glob for names as the system has them, of one for names as they are spelled.
func rawGlob(glob string) string {
	if filepath.Separator == '\\' {
		return workspace.Unspell(glob)
	}
	return spelledInGlob.ReplaceAllStringFunc(glob, func(s string) string {
		if strings.HasSuffix(s, "x5C") {
			return `\\`
		}
		b, _ := strconv.ParseUint(s[len(s)-2:], 16, 8)
		return string([]byte{byte(b)})
	})
}

// splitGlob splits a glob with slashes at the last one before anything that stands for more than itself: a folder by its name, "." if there is none,
// and the rest.
func splitGlob(glob string) (folder, rest string) {
	at := -1
	for i := 0; i < len(glob) && !strings.ContainsRune("*?[{", rune(glob[i])); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '/':
			at = i
		}
	}
	if at < 1 {
		return [...]string{".", "/"}[at+1], glob[at+1:]
	}
	var b strings.Builder
	for i := 0; i < at; i++ {
		if glob[i] == '\\' {
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String(), glob[at+1:]
}

// matches compares a name or path with a valid glob. A byte that is no character counts as one of its own kind.
func matches(glob, name string) bool {
	if !utf8.ValidString(glob) {
		glob, name = characters(glob), characters(name)
	}
	return doublestar.MatchUnvalidated(glob, name)
}

// characters has for each byte that is no character one that nobody uses (of the private plane 15).
func characters(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			r = 0xF0000 + rune(text[i])
		}
		b.WriteRune(r)
		i += size
	}
	return b.String()
}
