package search

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/workspace"

	"github.com/bmatcuk/doublestar/v4"
)

// maxExpansions is the maximum number of globs without braces that a glob may expand to. A name is
// compared with each of them, and every further pair of braces multiplies their number: twenty
// pairs occupy a processor for seconds per name, which no context can cancel. maxNesting is the
// maximum nesting of braces: for each level the whole glob is rewritten.
const (
	maxExpansions = 1000
	maxNesting    = 20
)

// checkGlob returns an error if a glob cannot be used. what is its name in the error.
func checkGlob(what, glob string) error {
	switch {
	case strings.ContainsRune(glob, 0):
		return toolkit.Failf("Invalid %s: %q contains a zero byte", what, glob)
	case !doublestar.ValidatePattern(glob):
		return toolkit.Failf("Invalid %s: %s", what, glob)
	case expansionCount(glob) > maxExpansions:
		return toolkit.Failf("Invalid %s: its braces expand to more than %d patterns or are nested too deeply. Search for fewer at a time.", what, maxExpansions)
	}
	return nil
}

// expansionCount returns the number of globs without braces that a valid glob expands to, or
// maxExpansions+1 if there are more, or if its braces are nested too deeply.
func expansionCount(glob string) int {
	const more = maxExpansions + 1
	type braces struct{ before, here int } // the finished alternatives, and the current one
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
			if open = append(open, braces{0, 1}); len(open) > maxNesting+1 {
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

func matchName(glob, name string) bool { return glob == "" || matchGlob(glob, name) }

// pathMatcher returns a function that compares the path of a name in a folder with a glob.
func pathMatcher(glob string) func(folder, name string) bool {
	if last, ok := strings.CutPrefix(glob, "**/"); ok && !strings.ContainsAny(last, `/\[{`) { // the most frequent form
		if suffix, ok := strings.CutPrefix(last, "*"); ok && !strings.ContainsAny(suffix, "*?") {
			return func(_, name string) bool { return strings.HasSuffix(name, suffix) }
		}
		return func(_, name string) bool { return matchGlob(last, name) }
	}
	return func(folder, name string) bool { return matchPath(glob, folder+name) }
}

// matchPath compares a path with slashes with a valid glob, in which a/** also matches a: doublestar
// knows that only of constant text.
func matchPath(glob, path string) bool {
	if matchGlob(glob, path) {
		return true
	}
	folder, ok := strings.CutSuffix(glob, "/**")
	return ok && matchPath(folder, path)
}

// spelledInGlob matches escapes written by [workspace.Spell], quoted for a glob or not.
var spelledInGlob = regexp.MustCompile(`\\{1,2}x(5C|[89A-F][0-9A-F])`)

// systemGlob converts a glob for spelled names to one for names of the system.
func systemGlob(glob string) string {
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

// splitGlob splits a glob at the last slash before its first special character into a folder name,
// "." if it does not have any, and the rest.
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

// matchGlob compares a name or path with a valid glob. An invalid byte of UTF-8 counts as a
// character of its own.
func matchGlob(glob, name string) bool {
	if !utf8.ValidString(glob) {
		glob, name = characters(glob), characters(name)
	}
	return doublestar.MatchUnvalidated(glob, name)
}

// characters replaces each byte that is invalid UTF-8 by an unused character of private plane 15.
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
