package search

import (
	"slices"
	"sync"
	"sync/atomic"
)

// topResults retains the results of the first files in the order of their paths, up to a limit.
// Files are searched in any order; files after the last one that counts need not be searched at
// all.
type topResults struct {
	limit int
	last  atomic.Pointer[string] // the last path that counts; nil while the limit is not reached

	mu    sync.Mutex // guards the fields below
	files []fileResult
	total int // sum of the weights
}

// fileResult is the result of searching one file.
type fileResult struct {
	path string
	fileMatches
	weight int // its share of the limit
}

// isFull reports whether the limit is reached, in whichever files.
func (b *topResults) isFull() bool { return b.last.Load() != nil }

// isBeyond reports whether results in path, or below it, cannot count any more.
func (b *topResults) isBeyond(path string) bool {
	cut := b.last.Load()
	return cut != nil && comparePaths(path, *cut) > 0
}

// add adds the result of a file. It is called once per file.
func (b *topResults) add(r fileResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isBeyond(r.path) {
		return
	}
	at, _ := slices.BinarySearchFunc(b.files, r.path, func(have fileResult, path string) int { return comparePaths(have.path, path) })
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
		b.last.Store(&last)
	}
}

// comparePaths orders paths as a walk visits them: the content of a folder comes before names that
// begin with the folder's name.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if x, y := a[i], b[i]; x != y {
			if isSeparator(x) {
				return -1
			}
			if isSeparator(y) {
				return 1
			}
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}
