package store

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAnAuditSearchFindsBeginningsOfWords(t *testing.T) {
	s := openTest(t)
	what := []string{"make test", "Makefile written", "remake", "go run MAKER", "größer", "grossen", "call-7 \"quoted\""}
	for i := range 2 * maxTerms {
		what = append(what, fmt.Sprintf("file%dx", i))
	}
	var all []protocol.AuditEntry
	for _, w := range what {
		all = append(all, protocol.AuditEntry{Kind: protocol.AuditCall, Node: "tower", What: w})
	}
	if err := s.Audit(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]int64{
		"make": {4, 2, 1}, "MAKE": {4, 2, 1}, "maker": {4}, "makefil writ": {2}, "make tower": {4, 2, 1}, "makes": nil, "mak": {4, 2, 1},
		"größ": {5}, "gros": {6}, "quoted": {7}, "file127": {int64(7 + 128)},
	} {
		for _, q := range []protocol.AuditListParams{{Query: query, Limit: 10}, {Query: query, Limit: 10, Node: "tower"}} {
			lines, _, err := s.AuditLines(t.Context(), q)
			var got []int64
			for _, l := range lines {
				got = append(got, l.Seq)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v, %v", query, got, want, err)
			}
		}
	}
	if lines, more, err := s.AuditLines(t.Context(), protocol.AuditListParams{Query: "file", Limit: 2, Before: 10}); err != nil || more || len(lines) != 2 || lines[0].Seq != 9 {
		t.Errorf("%+v %v %v", lines, more, err)
	}
}
