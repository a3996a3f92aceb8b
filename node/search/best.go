package search

import (
	"slices"
	"sync"
	"sync/atomic"
)

// best retains the results of the first files in the order of their paths, up to a limit. Files are
// searched in any order; files after the last one that counts need not be searched at all.
type best struct {
	limit int
	cut   atomic.Pointer[string] // the last path that counts; nil while the limit is not reached

	mu    sync.Mutex // guards the fields below
	files []result
	total int // sum of the weights
}

// result is the result of searching one file.
type result struct {
	path string
	found
	weight int // its share of the limit
}

// full reports whether the limit is reached, in whichever files.
func (b *best) full() bool { return b.cut.Load() != nil }

// late reports whether results in path, or below it, cannot count any more.
func (b *best) late(path string) bool {
	cut := b.cut.Load()
	return cut != nil && comparePaths(path, *cut) > 0
}

// add adds the result of a file. It is called once per file.
func (b *best) add(r result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.late(r.path) {
		return
	}
	at, _ := slices.BinarySearchFunc(b.files, r.path, func(have result, path string) int { return comparePaths(have.path, path) })
	b.files = slices.Insert(b.files, at, r)
	b.total += r.weight
	for {
		last := b.files[len(b.files)-1]
		if b.total-last.weight < b.limit {
			break
		}
		b.files = b.files[:len(b.files)-1]
		b.total -= last.weight
	}
	if b.total >= b.limit {
		last := b.files[len(b.files)-1].path
		b.cut.Store(&last)
	}
}

// comparePaths orders paths as a walk visits them: the content of a folder comes before names that
// begin with the folder's name.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if x, y := a[i], b[i]; x != y {
			if separator(x) {
				return -1
			}
			if separator(y) {
				return 1
			}
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}
