package search

import (
	"math"
	"math/bits"
	"strings"
)

// route is a glob split at its slashes: in every folder, a walk knows its progress in the pattern
// and compares names only.
type route struct {
	glob  string
	parts []*names // nil for **; nil altogether when the glob cannot be split
	deep  uint64   // bit set of the parts that are **
	depth int      // maximum depth of matches when the glob is not split
}

// place is the progress of a walk: the set of parts that may come next.
type place uint64

func newRoute(glob string) *route {
	r := &route{glob: glob, depth: strings.Count(glob, "/")}
	if strings.Contains(glob, "**") {
		r.depth = math.MaxInt
	}
	if !simple(glob) {
		return r
	}
	for i, part := range strings.Split(glob, "/") {
		if part == "" || i == 62 {
			r.parts = nil
			return r
		}
		if part == "**" {
			r.deep |= 1 << i
			r.parts = append(r.parts, nil)
			continue
		}
		r.parts = append(r.parts, newNames(part))
	}
	return r
}

// simple reports whether slashes and ** in a glob stand between and for whole parts only, and not
// in alternatives or a class.
func simple(glob string) bool {
	depth := 0
	for i := range len(glob) {
		switch glob[i] {
		case '\\':
			return false
		case '{', '[':
			depth++
		case '}', ']':
			depth = max(0, depth-1)
		case '/':
			if depth > 0 {
				return false
			}
		case '*':
			if depth > 0 && strings.HasPrefix(glob[i:], "**") {
				return false
			}
		}
	}
	return true
}

// begin returns the place at the start of the walk.
func (r *route) begin() place { return r.skip(1) }

// skip adds the parts after ** that match no folder at all.
func (r *route) skip(p place) place {
	for more := p & place(r.deep); more != 0; more = more << 1 & place(r.deep) {
		p |= more << 1
	}
	return p
}

// step returns the place after name, and whether the path up to there matches. path returns that
// path from the start, for globs that need it.
func (r *route) step(from place, name string, path func() string) (to place, match bool) {
	if r.parts == nil {
		return from, matches(r.glob, path())
	}
	for left := uint64(from); left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		switch {
		case i == len(r.parts):
		case r.parts[i] == nil:
			to |= 1 << i
		case r.parts[i].match(name):
			to |= 1 << (i + 1)
		}
	}
	to = r.skip(to)
	return to, to>>len(r.parts)&1 == 1
}

// further reports whether the folder at a path below the start may contain matches.
func (r *route) further(p place, path func() string) bool {
	if r.parts == nil {
		return r.depth == math.MaxInt || strings.Count(path(), "/") < r.depth
	}
	return p&^(1<<len(r.parts)) != 0
}
