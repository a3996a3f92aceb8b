package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// mayMeet reports whether a shell's pattern, as a path, may match a file that g matches.
func (g pathGlob) mayMeet(pattern, root, home string) bool {
	if _, surely := relativeTo(pattern, root); surely && g.outside {
		return false
	}
	parts := g.low
	switch { // wildcards may stand for the folders above, too: /ho*/ann
	case g.home && home == "":
		return true
	case g.home:
		parts = inFull(home, parts)
	case !g.outside && !g.abs && root != "":
		parts = inFull(root, parts)
	case !g.outside && !g.abs:
		return false
	}
	return meetParts(parts, strings.Split(strings.TrimPrefix(fold(pattern), "/"), "/"))
}

// inFull joins a pattern's parts to those of the folder that it is relative to.
func inFull(dir string, parts []string) []string {
	full := strings.Split(strings.Trim(fold(dir), "/"), "/")
	for i, p := range full {
		full[i] = literal.Replace(p)
	}
	return append(full, parts...)
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
		for i := range len(words) + 1 {
			if meetParts(rule[1:], words[i:]) {
				return true
			}
		}
		return false
	case len(words) == 0:
		return false
	}
	return meetPart(rule[0], words[0]) && meetParts(rule[1:], words[1:])
}

// meetPart compares one part of each. If both are patterns, they meet unless their beginnings or
// ends differ.
func meetPart(rule, word string) bool {
	// zsh's own patterns, which may match anything
	if i := strings.IndexAny(word, "^#~"); i >= 0 && !strings.Contains(word, "[^") {
		word = word[:i] + "*"
	}
	word = strings.ReplaceAll(word, "[!", "[^")
	if !strings.ContainsAny(rule, `*?[\`) {
		ok, err := path.Match(word, rule)
		return ok || err != nil
	}
	if !strings.ContainsAny(word, `*?[\`) {
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
	if _, surely := relativeTo(dir, root); surely && g.outside {
		return none
	}
	var have []string
	start := root
	switch {
	case g.abs || g.outside:
		start = "/"
	case g.home:
		start = home
	}
	if start == "" {
		return none
	}
	have = split(fold(start))
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

// containsReason is the reason of a rule that applies to a folder because of its possible contents.
func containsReason(r *rule) string {
	return "Includes " + shorten(r.Path) + "; " + reasonOf(r)
}

// maybeFolder reports whether a path may be a folder, going by its name.
func maybeFolder(text string) bool {
	return strings.HasSuffix(text, "/") || !fileExtensions[strings.ToLower(path.Ext(text))] || path.Base(text) == path.Ext(text)
}

// pathGlob is a prepared path pattern.
type pathGlob struct {
	outside bool // absolute, outside the workspace
	abs     bool // absolute, wherever the workspace is
	home    bool
	parts   []string
	low     []string // parts in lower case
}

func parsePath(s string) (pathGlob, error) {
	var g pathGlob
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
		if p == "**" {
			continue
		}
		if _, err := path.Match(p, ""); err != nil || strings.Contains(p, "**") {
			return g, fmt.Errorf("path %q: %q is no pattern for one part (** must stand alone between slashes)", s, p)
		}
	}
	return g, nil
}

// match compares the pattern with an absolute, clean path with slashes. With strict, names that
// file systems may treat as equal are equal, see fold, and every folder may be the home folder if
// that is unknown; this is for ask and deny rules.
func (g pathGlob) match(abs, root, home string, strict bool) bool {
	if _, surely := relativeTo(abs, root); surely && g.outside {
		return false
	}
	if strict {
		abs, root, home = fold(abs), fold(root), fold(home)
	}
	rel, inside := relativeTo(abs, root)
	parts := g.parts
	if strict {
		parts = g.low
	}
	switch {
	case g.home && home == "" && strict: // it may be any folder
		rel, parts = strings.TrimPrefix(abs, "/"), append([]string{"**"}, parts...)
	case g.outside:
		rel = strings.TrimPrefix(abs, "/")
	case g.abs:
		rel = strings.TrimPrefix(abs, "/")
	case g.home:
		var ok bool
		if rel, ok = relativeTo(abs, home); !ok {
			return false
		}
	case !inside:
		return false
	}
	return mayMatch(parts, rel) && matchParts(parts, strings.Split(rel, "/"))
}

// relativeTo returns p relative to dir.
func relativeTo(p, dir string) (string, bool) {
	if dir == "" {
		return "", false
	}
	if p == dir {
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// mayMatch quickly excludes paths for a pattern that starts with a plain name.
func mayMatch(pattern []string, rel string) bool {
	first := pattern[0]
	if strings.ContainsAny(first, `*?[\`) {
		return true
	}
	rest, ok := strings.CutPrefix(rel, first)
	return ok && (rest == "" || rest[0] == '/')
}

func matchParts(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return true
			}
			for i := range parts {
				if matchParts(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); !ok || err != nil {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}
