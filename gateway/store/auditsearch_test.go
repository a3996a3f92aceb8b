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
	if err := s.Audit.Append(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]int64{
		"make": {4, 2, 1}, "MAKE": {4, 2, 1}, "maker": {4}, "makefil writ": {2}, "make tower": {4, 2, 1}, "makes": nil, "mak": {4, 2, 1},
		"größ": {5}, "gros": {6}, "quoted": {7}, "file127": {int64(7 + 128)},
	} {
		t.Run(query, func(t *testing.T) {
			for _, q := range []protocol.AuditListParams{{Query: query, Limit: 10}, {Query: query, Limit: 10, Node: "tower"}} {
				lines, _, err := s.Audit.List(t.Context(), q)
				var got []int64
				for _, l := range lines {
					got = append(got, l.Seq)
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%q: %v, want %v, %v", query, got, want, err)
				}
			}
		})
	}
	if lines, more, err := s.Audit.List(t.Context(), protocol.AuditListParams{Query: "file", Limit: 2, Before: 10}); err != nil || more || len(lines) != 2 || lines[0].Seq != 9 {
		t.Errorf("got %+v, more %v, error %v, want 2 entries from 9", lines, more, err)
	}
}

func TestAuditSearchAppliesFilters(t *testing.T) {
	s := openTest(t)
	const long = protocol.SessionKey(`agent:main:"odd" chat:2`)
	lines := []protocol.AuditEntry{
		{Kind: protocol.AuditCall, Node: "tower", SessionKey: "agent:main:main", What: "make test"},
		// contains the words of filters that it does not match
		{Kind: protocol.AuditCall, Node: "go", SessionKey: long, What: "make test on tower"},
		{Kind: protocol.AuditRuleMade, Node: "tower", SessionKey: "***", Rule: "r-1", What: "make call"},
		{Kind: protocol.AuditCall, Node: "go-2", SessionKey: "agent:main:main", Rule: "r-1", What: "make go"},
	}
	if err := s.Audit.Append(t.Context(), lines...); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    protocol.AuditListParams
		want []int64
	}{
		{protocol.AuditListParams{Query: "make", Node: "tower"}, []int64{3, 1}},
		{protocol.AuditListParams{Query: "make", Node: "go"}, []int64{2}},
		{protocol.AuditListParams{Query: "make", SessionKey: long}, []int64{2}},
		{protocol.AuditListParams{Query: "make", SessionKey: "***"}, []int64{3}},
		{protocol.AuditListParams{Query: "make", SessionKey: "agent:main:main", Rule: "r-1"}, []int64{4}},
		{protocol.AuditListParams{Query: "make", Kind: protocol.AuditRuleMade}, []int64{3}},
		{protocol.AuditListParams{Query: "make", Kind: protocol.AuditCall}, []int64{4, 2, 1}},
		{protocol.AuditListParams{Query: "make", SessionKey: "agent:main"}, nil},
		{protocol.AuditListParams{Query: "test", Rule: "r-1"}, nil},
	} {
		c.q.Limit = 10
		found, more, err := s.Audit.List(t.Context(), c.q)
		var got []int64
		for _, l := range found {
			got = append(got, l.Seq)
		}
		if err != nil || more || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v, %v", c.q, got, c.want, err)
		}
	}
}
