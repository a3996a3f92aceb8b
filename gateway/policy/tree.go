package policy

import (
	"path"
	"slices"
	"strings"
)

// within returns how certainly the pattern matches something below a folder, which is absolute and
// clean; with open, it is a shell's pattern. The match is certain for the parts before a **, and
// possible for those after it, which may be in any folder.
func (g pathGlob) within(dir, root, home string, open bool) grade {
	if _, surely := below(dir, root); surely && g.outside {
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

// insideReason is the reason of a rule that applies to a folder because of its possible contents.
func insideReason(r *rule) string {
	return "Includes " + short(r.Path) + "; " + ruleReason(r)
}

// maybeFolder reports whether a path may be a folder, judged by its name.
func maybeFolder(text string) bool {
	return strings.HasSuffix(text, "/") || !fileExtensions[strings.ToLower(path.Ext(text))] || path.Base(text) == path.Ext(text)
}
