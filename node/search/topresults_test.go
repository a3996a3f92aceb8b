package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTopResultsAreTheFirstInAnyOrder(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(31, 32))
	for range 300 {
		var all []fileResult
		for i := range rnd.IntN(60) {
			all = append(all, fileResult{path: fmt.Sprintf("/d%d/f%02d", rnd.IntN(4), i), weight: 1 + rnd.IntN(5)})
		}
		b := topResults{limit: 1 + rnd.IntN(40)}
		for _, i := range rnd.Perm(len(all)) {
			if !b.isBeyond(all[i].path) {
				b.add(all[i])
			}
		}
		slices.SortFunc(all, func(x, y fileResult) int { return comparePaths(x.path, y.path) })
		total, n := 0, 0
		for ; n < len(all) && total < b.limit; n++ {
			total += all[n].weight
		}
		same := slices.EqualFunc(b.files, all[:n], func(x, y fileResult) bool { return x.path == y.path })
		if !same || b.total != total {
			t.Fatalf("limit %d: %v, want %v", b.limit, b.files, all[:n])
		}
	}
}

func TestPathsAreInTheOrderOfAWalk(t *testing.T) {
	t.Parallel()
	paths := []string{"/a", "/a/b", "/a/b/c", "/a/b.x", "/a b", "/a-b", "/a.b", "/ab", "/é"}
	for range 20 {
		got := slices.Clone(paths)
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, comparePaths)
		if !slices.Equal(got, paths) {
			t.Fatalf("got %q, want %q", got, paths)
		}
	}
}
