package policy

import (
	"path"
	"slices"
	"strings"
)

// takers are programs that take folders with all that is in them away.
var takers = set("rm mv trash trash-put gio rmtrash srm")

// within reports whether the pattern may be about something below a folder, which is absolute and clean; with open it is a shell's pattern. What comes
// after a ** may lie in any folder: those below the place of the ** do not count, for else one rule about a name would hold every folder.
func (g pathGlob) within(dir, root, home string, open bool) bool {
	var have []string
	start := root
	switch {
	case g.abs || g.outside:
		start = "/"
	case g.home:
		start = home
	}
	if start == "" {
		return false
	}
	have = split(strings.ToLower(start))
	fixed := len(have) // what is no pattern
	for _, p := range g.parts {
		have = append(have, strings.ToLower(p))
	}
	words := split(strings.ToLower(dir))
	if len(words) >= len(have) {
		return false
	}
	for i, w := range words {
		if have[i] == w {
			continue
		}
		if i >= fixed && have[i] == "**" {
			return false
		}
		ok, err := false, error(nil)
		if i >= fixed {
			ok, err = path.Match(have[i], w)
		}
		if !ok && open {
			ok, err = path.Match(w, have[i])
		}
		if !ok && err == nil {
			return false
		}
	}
	return true
}

func split(dir string) []string {
	return slices.DeleteFunc(strings.Split(dir, "/"), func(p string) bool { return p == "" })
}

// insideReason says that a rule holds a folder because of what may lie in it.
func insideReason(r *rule) string {
	return "it would take " + short(r.Path) + " along; " + ruleReason(r)
}
