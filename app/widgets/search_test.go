package widgets

import (
	"testing"
)

func FuzzOccurrencesAreWhereTheTextIs(f *testing.F) {
	f.Add("The Needle", "needle")
	f.Add("ÄÖ\xffÜ", "ö")
	f.Fuzz(func(t *testing.T, text, query string) {
		q, runes := folded(query), []rune(text)
		hits := occurrences(text, q)
		if len(hits) != Count(text, query) {
			t.Fatalf("%d places, %d counted", len(hits), Count(text, query))
		}
		for _, h := range hits {
			if got := string(folded(string(runes[h[0]:h[1]]))); got != string(q) {
				t.Fatalf("%q stands at %v", got, h)
			}
		}
	})
}
