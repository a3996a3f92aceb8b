package selection

import (
	"testing"
)

func FuzzOccurrencesAreWhereTheTextIs(f *testing.F) {
	f.Add("The Needle", "needle")
	f.Add("ÄÖ\xffÜ", "ö")
	f.Fuzz(func(t *testing.T, text, query string) {
		q, runes := lower(query), []rune(text)
		hits := matchRunes(text, q)
		if len(hits) != Count(text, query) {
			t.Fatalf("%d places, %d counted", len(hits), Count(text, query))
		}
		for _, h := range hits {
			if got := string(lower(string(runes[h[0]:h[1]]))); got != string(q) {
				t.Fatalf("%q stands at %v", got, h)
			}
		}
	})
}
