package tools

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// names compares file names with a glob. The globs that people write most are compared without one.
type names struct {
	glob   string
	all    bool
	exact  bool
	suffix string // for a star and text; empty when not
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
	return doublestar.MatchUnvalidated(n.glob, name)
}
