package tools

import (
	"slices"
	"sync"
	"sync/atomic"
)

// best keeps what was found in the first files, in order of their paths, until as much was found as is wanted. Files are searched in any
// order; those behind the last one that is wanted need not be searched at all.
type best struct {
	limit int
	cut   atomic.Pointer[string] // the last path that counts; nil while there is room

	mu    sync.Mutex // guards what follows
	files []result
	total int // what the files weigh
}

// result is what was found in one file.
type result struct {
	path string
	found
	weight int // how much of the limit it takes
}

// full reports whether as much was found as is wanted, in whichever files.
func (b *best) full() bool { return b.cut.Load() != nil }

// late reports whether what is found in path, or below it, cannot be wanted any more.
func (b *best) late(path string) bool {
	cut := b.cut.Load()
	return cut != nil && comparePaths(path, *cut) > 0
}

// add puts in what was found in a file, once.
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

// comparePaths orders paths as a walk meets them: what is in a folder comes before what has the folder's name and more.
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
