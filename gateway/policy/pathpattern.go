package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/peer/glob"
)

// pathGlob is a prepared path pattern.
type pathGlob struct {
	outside bool // absolute, outside the workspace
	abs     bool // absolute, wherever the workspace is
	home    bool
	parts   []string
	low     []string // parts in lower case
}

func parsePath(s string) (g pathGlob, err error) {
	rest := s
	switch {
	case strings.HasPrefix(s, "!/"):
		g.outside, rest = true, s[2:]
	case strings.HasPrefix(s, "~/"):
		g.home, rest = true, s[2:]
	case strings.HasPrefix(s, "/"):
		g.abs, rest = true, s[1:]
	case drive(s) && isAbs(s): // of Windows
		g.abs, rest = true, strings.ReplaceAll(s, `\`, "/")
	case s == "" || strings.HasPrefix(s, "!"):
		return g, fmt.Errorf("path %q is no path pattern", s)
	}
	g.parts = strings.Split(strings.TrimPrefix(rest, "./"), "/")
	g.low = strings.Split(fold(strings.Join(g.parts, "/")), "/")
	for _, p := range g.parts {
		if p == ".." || p == "" && len(g.parts) > 1 {
			return g, fmt.Errorf("path %q has an empty or .. part", s)
		}
		if _, err := path.Match(p, ""); p != "**" && (err != nil || strings.Contains(p, "**")) {
			return g, fmt.Errorf("path %q: %q is no pattern for one part (** must stand alone between slashes)", s, p)
		}
	}
	return g, nil
}

// start returns the folder to which a pattern is relative, or "" if that is unknown.
func (g pathGlob) start(root, home string) string {
	switch {
	case g.abs || g.outside:
		return "/"
	case g.home:
		return home
	}
	return root
}

// fixedParts returns the number of a pattern's parts before the first wildcard.
func (g pathGlob) fixedParts() int {
	if i := slices.IndexFunc(g.parts, hasWildcard); i >= 0 {
		return i
	}
	return len(g.parts)
}

func hasWildcard(part string) bool { return strings.ContainsAny(part, `*?[\`) }

// match compares the pattern with an absolute, clean path with slashes. With strict, names that
// file systems may treat as equal are equal, see fold, and every folder may be the home folder if
// that is unknown; this is for ask and deny rules.
func (g pathGlob) match(abs, root, home string, strict bool) bool {
	parts := g.parts
	if strict {
		abs, root, home, parts = fold(abs), fold(root), fold(home), g.low
	}
	rel, ok := strings.TrimPrefix(abs, "/"), true
	switch start := g.start(root, home); {
	case start == "/":
	case g.home && home == "" && strict: // it may be any folder
		parts = append([]string{"**"}, parts...)
	default:
		rel, ok = relativeTo(abs, start)
	}
	return ok && glob.Match(parts, strings.Split(rel, "/"))
}

// mayMeet reports whether a shell's pattern, as a path, may match a file that g matches.
func (g pathGlob) mayMeet(pattern, root, home string) bool {
	parts := g.low
	switch start := g.start(root, home); { // wildcards may stand for the folders above, too: /ho*/ann
	case g.outside && isIn(pattern, root), start == "" && !g.home:
		return false
	case start == "":
		return true
	default:
		parts = append(split(literal.Replace(fold(start))), parts...)
	}
	return meetParts(parts, strings.Split(strings.TrimPrefix(fold(pattern), "/"), "/"))
}

// literal escapes a name so that it is a pattern for itself.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// meetParts reports whether some path matches both a rule's parts and those of a shell's pattern.
func meetParts(rule, words []string) bool {
	switch {
	case len(words) > 0 && words[0] == "**":
		// depending on the shell's options, any number of folders
		return true
	case len(rule) == 0:
		return len(words) == 0
	case rule[0] == "**":
		return meetParts(rule[1:], words) || len(words) > 0 && meetParts(rule, words[1:])
	case len(words) == 0:
		return false
	}
	return meetPart(rule[0], words[0]) && meetParts(rule[1:], words[1:])
}

// meetPart compares one part. Two patterns meet unless their beginnings or ends differ.
func meetPart(rule, word string) bool {
	// zsh's own patterns, which may match anything
	if i := strings.IndexAny(word, "^#~"); i >= 0 && !strings.Contains(word, "[^") {
		word = word[:i] + "*"
	}
	word = strings.ReplaceAll(word, "[!", "[^")
	if !hasWildcard(rule) {
		ok, err := path.Match(word, rule)
		return ok || err != nil
	}
	if !hasWildcard(word) {
		ok, err := path.Match(rule, word)
		return ok || err != nil
	}
	a, b := rule[:strings.IndexAny(rule, `*?[\`)], word[:strings.IndexAny(word, `*?[\`)]
	if !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) {
		return false
	}
	a, b = rule[strings.LastIndexAny(rule, `*?]\`)+1:], word[strings.LastIndexAny(word, `*?]\`)+1:]
	return strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
}

// within returns how certainly the pattern matches something below a folder, which is absolute and
// clean; with open, it is a shell's pattern. The match is certain for the parts before a **, and
// possible for those after it, which may be in any folder.
func (g pathGlob) within(dir, root, home string, open bool) certainty {
	start := g.start(root, home)
	if start == "" || g.outside && isIn(dir, root) {
		return none
	}
	have := split(fold(start))
	fixed := len(have) // the parts without wildcards
	have = append(have, g.low...)
	words := split(fold(dir))
	for i, w := range words {
		switch {
		case i >= len(have):
			return none
		case i >= fixed && have[i] == "**":
			return possible
		case have[i] == w:
			continue
		}
		ok, err := false, error(nil)
		if i >= fixed {
			ok, err = path.Match(have[i], w)
		}
		if !ok && open {
			ok, err = path.Match(w, have[i])
		}
		if !ok && err == nil {
			return none
		}
	}
	if len(words) >= len(have) {
		return none
	}
	return certain
}

func split(dir string) []string {
	return slices.DeleteFunc(strings.Split(dir, "/"), func(p string) bool { return p == "" })
}

// isAlwaysHidden reports whether all matching paths have a part that starts with a dot.
func (g pathGlob) isAlwaysHidden() bool {
	return slices.ContainsFunc(g.parts, func(p string) bool { return len(p) > 1 && p[0] == '.' })
}

// endsWith reports whether the pattern may match a file with the suffix only.
func (g pathGlob) endsWith(only string) bool {
	last := g.parts[len(g.parts)-1]
	return last == "**" || meetPart(strings.ToLower(last), only)
}
