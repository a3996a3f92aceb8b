package search

import (
	"math"
	"math/bits"
	"strings"
)

// splitPattern is a glob split at its slashes: in every folder, a walk knows its progress in the
// pattern and compares names only.
type splitPattern struct {
	glob     string
	parts    []*nameMatcher // nil for **; nil altogether when the glob cannot be split
	anyDepth uint64         // bit set of the parts that are **
	depth    int            // maximum depth of matches when the glob is not split
}

// progress is the progress of a walk: the set of parts that may come next.
type progress uint64

func newSplitPattern(glob string) *splitPattern {
	r := &splitPattern{glob: glob, depth: strings.Count(glob, "/")}
	if strings.Contains(glob, "**") {
		r.depth = math.MaxInt
	}
	if !isSplittable(glob) {
		return r
	}
	for i, part := range strings.Split(glob, "/") {
		if part == "" || i == 62 {
			r.parts = nil
			return r
		}
		if part == "**" {
			r.anyDepth |= 1 << i
			r.parts = append(r.parts, nil)
			continue
		}
		r.parts = append(r.parts, newNameMatcher(part))
	}
	return r
}

// isSplittable reports whether slashes and ** in a glob stand between and for whole parts only, and
// not in alternatives or a class.
func isSplittable(glob string) bool {
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

// start returns the place at the start of the walk.
func (r *splitPattern) start() progress { return r.expandDeep(1) }

// expandDeep adds the parts after ** that match no folder at all.
func (r *splitPattern) expandDeep(p progress) progress {
	for more := p & progress(r.anyDepth); more != 0; more = more << 1 & progress(r.anyDepth) {
		p |= more << 1
	}
	return p
}

// step returns the place after name, and whether the path up to there matches. path returns that
// path from the start, for globs that need it.
func (r *splitPattern) step(from progress, name string, path func() string) (to progress, match bool) {
	if r.parts == nil {
		return from, matchGlob(r.glob, path())
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
	to = r.expandDeep(to)
	return to, to>>len(r.parts)&1 == 1
}

// canDescend reports whether the folder at a path below the start may contain matches.
func (r *splitPattern) canDescend(p progress, path func() string) bool {
	if r.parts == nil {
		return r.depth == math.MaxInt || strings.Count(path(), "/") < r.depth
	}
	return p&^(1<<len(r.parts)) != 0
}
