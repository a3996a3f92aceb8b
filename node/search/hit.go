package search

import (
	"cmp"
	"slices"
	"strings"
)

// hit is a matching path.
type hit struct {
	folder string // with a trailing separator
	name   string
	time   int64
}

func (h hit) path() string { return h.folder + h.name }

// compareNewest orders hits by time, newest first, then by path.
func compareNewest(a, b hit) int {
	switch {
	case a.time != b.time:
		return cmp.Compare(b.time, a.time)
	case a.folder == b.folder:
		return strings.Compare(a.name, b.name)
	}
	// The paths are not joined for that, because many files that were unpacked together have the
	// same time.
	n := min(len(a.folder), len(b.folder))
	if c := strings.Compare(a.folder[:n], b.folder[:n]); c != 0 {
		return c
	}
	if len(a.folder) > n {
		return -compareJoined(b.name, a.folder[n:], a.name)
	}
	return compareJoined(a.name, b.folder[n:], b.name)
}

// newestHits returns the newest hits in order. If there are many more than limit, it first drops
// old ones by their times alone.
func newestHits(hits []hit, limit int) []hit {
	if len(hits) > limit+limit/4 {
		times := make([]int64, len(hits))
		for i, h := range hits {
			times[i] = h.time
		}
		slices.Sort(times)
		oldest := times[len(times)-limit]
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.time < oldest })
	}
	slices.SortFunc(hits, compareNewest)
	return hits[:min(len(hits), limit)]
}

// mergeHits merges sorted lists, up to limit. It changes the lists.
func mergeHits(lists [][]hit, limit int) []hit {
	if len(lists) == 1 {
		return lists[0]
	}
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	all := make([]hit, 0, min(n, limit))
	for len(all) < limit {
		var next *[]hit
		for i := range lists {
			if l := &lists[i]; len(*l) > 0 && (next == nil || compareNewest((*l)[0], (*next)[0]) < 0) {
				next = l
			}
		}
		if next == nil {
			break
		}
		all, *next = append(all, (*next)[0]), (*next)[1:]
	}
	return all
}

// compareJoined compares a with the concatenation of b and c.
func compareJoined(a, b, c string) int {
	n := min(len(a), len(b))
	if d := strings.Compare(a[:n], b); d != 0 {
		return d
	}
	return strings.Compare(a[n:], c)
}
