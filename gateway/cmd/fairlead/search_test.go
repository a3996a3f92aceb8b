package main

import (
	"errors"
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

func TestASearchGoesOnUntilItHasWhatWasAskedFor(t *testing.T) {
	broken := errors.New("the connection broke")
	hits := func(ids ...int64) (list []protocol.SearchHit) {
		for _, id := range ids {
			list = append(list, protocol.SearchHit{Seq: id})
		}
		return list
	}
	for name, c := range map[string]struct {
		pages   []protocol.SessionsSearchResult
		asked   [][2]int64 // page and limit
		hits, n int64
		err     error
	}{
		"a full page": {[]protocol.SessionsSearchResult{{Hits: hits(9, 8, 7), Next: 7}}, [][2]int64{{50, 3}}, 3, 7, nil},
		"pages that were cut": {
			[]protocol.SessionsSearchResult{{Hits: hits(9), Next: 9, Reached: 9}, {Next: 5, Reached: 5}, {Hits: hits(4, 3), Next: 3}},
			[][2]int64{{50, 3}, {9, 2}, {5, 2}},
			3, 3, nil,
		},
		"nothing anywhere": {[]protocol.SessionsSearchResult{{Next: 9, Reached: 9}, {}}, [][2]int64{{50, 3}, {9, 3}}, 0, 0, nil},
		"an error":         {[]protocol.SessionsSearchResult{{Hits: hits(9), Next: 9, Reached: 9}}, [][2]int64{{50, 3}, {9, 2}}, 1, 9, broken},
	} {
		t.Run(name, func(t *testing.T) {
			var asked [][2]int64
			got, err := searchPages(protocol.SessionsSearchParams{Query: "x", Page: 50, Limit: 3}, func(q protocol.SessionsSearchParams) (r protocol.SessionsSearchResult, err error) {
				asked = append(asked, [2]int64{q.Page, int64(q.Limit)})
				if q.Query != "x" || len(asked) > len(c.pages) {
					return r, broken
				}
				return c.pages[len(asked)-1], nil
			})
			if !errors.Is(err, c.err) || !slices.Equal(asked, c.asked) || int64(len(got.Hits)) != c.hits || got.Next != c.n || got.Reached != 0 {
				t.Errorf("%s: asked %v; %d hits, next %d, reached %d, %v; want asked %v, %d hits, next %d, error %v", name, asked, len(got.Hits), got.Next, got.Reached, err, c.asked, c.hits, c.n, c.err)
			}
		})
	}
}
