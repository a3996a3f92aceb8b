package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAuditNamesTheFirstBrokenLine(t *testing.T) {
	for name, c := range map[string]struct {
		break_ string
		want   int64
	}{
		"whole":    {"", 0},
		"changed":  {"UPDATE audit SET entry = replace(entry, 'call 3', 'nothing') WHERE seq = 3", 3},
		"filter":   {"UPDATE audit SET node = 'other' WHERE seq = 2", 2},
		"taken":    {"DELETE FROM audit WHERE seq = 4", 5},
		"rehashed": {"UPDATE audit SET hash = 'x' WHERE seq = 2", 2},
		"swapped":  {"UPDATE audit SET seq = CASE seq WHEN 2 THEN 1002 ELSE 2 END WHERE seq IN (2, 3); UPDATE audit SET seq = 3 WHERE seq = 1002", 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t)
			for i := range 6 {
				if err := s.Audit.Append(t.Context(), protocol.AuditEntry{At: int64(i), Kind: protocol.AuditCall, Node: "n", What: fmt.Sprint("call ", i+1)}); err != nil {
					t.Fatal(err)
				}
			}
			for _, q := range strings.Split(c.break_, "; ") {
				if q != "" {
					if err := s.writer.db.Exec(q).Error; err != nil {
						t.Fatalf("%s: got error %v, want none", name, err)
					}
				}
			}
			res, err := s.Audit.Verify(t.Context(), AuditHead{})
			if err != nil || res.Broken != c.want || (c.want > 0) != (res.Why != "") {
				t.Errorf("%s: %+v %v, want line %d", name, res, err, c.want)
			}
		})
	}
}

func TestStoredHeadShowsATruncatedChain(t *testing.T) {
	s := openTest(t)
	say := func(what string) {
		if err := s.Audit.Append(t.Context(), protocol.AuditEntry{Kind: protocol.AuditCall, What: what}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		say(fmt.Sprint("call ", i+1))
	}
	head := must(s.Audit.Head(t.Context()))(t)
	say("later")
	if res := must(s.Audit.Verify(t.Context(), head))(t); res.Broken != 0 || res.Lines != 7 || head.Seq != 6 {
		t.Errorf("an unchanged log: got %+v, head %+v, want 7 lines", res, head)
	}
	cut := func(from int64) {
		if err := s.writer.db.Exec("DELETE FROM audit WHERE seq >= ?", from).Error; err != nil {
			t.Fatal(err)
		}
	}
	cut(4)
	if res := must(s.Audit.Verify(t.Context(), head))(t); res.Broken != 4 || !strings.Contains(res.Why, "3 entries are missing") {
		t.Errorf("cut off: got %+v, want 3 missing entries after line 4", res)
	}
	if res := must(s.Audit.Verify(t.Context(), AuditHead{}))(t); res.Broken != 0 {
		t.Errorf("the chain alone: got %+v, want it unbroken", res)
	}
	for range 5 {
		say("made up") // a complete chain again
	}
	if res := must(s.Audit.Verify(t.Context(), head))(t); res.Broken != 6 || !strings.Contains(res.Why, "together with all later hashes") {
		t.Errorf("with new hashes: got %+v, want it broken at line 6", res)
	}
}

func TestAuditIsPagedAndFiltered(t *testing.T) {
	s := openTest(t)
	for i := range 10 {
		if err := s.Audit.Append(t.Context(), protocol.AuditEntry{At: int64(i), Kind: protocol.AuditCall, Node: protocol.NodeID(fmt.Sprint("n", i%2)), Rule: fmt.Sprint("r", i%5)}); err != nil {
			t.Fatal(err)
		}
	}
	list, more, err := s.Audit.List(t.Context(), protocol.AuditListParams{Limit: 3})
	if err != nil || !more || len(list) != 3 || list[0].Seq != 10 || list[0].Hash == "" {
		t.Errorf("got %+v, more %v, error %v, want 3 entries from 10", list, more, err)
	}
	list, more, err = s.Audit.List(t.Context(), protocol.AuditListParams{Limit: 10, Before: list[2].Seq, Node: "n1"})
	if err != nil || more || len(list) != 3 || list[0].Seq != 6 {
		t.Errorf("got %+v, more %v, error %v, want 3 entries from 6", list, more, err)
	}
	if list, _, _ = s.Audit.List(t.Context(), protocol.AuditListParams{Limit: 10, Rule: "r3", After: 5}); len(list) != 1 || list[0].Seq != 9 {
		t.Errorf("got %+v, want entry 9", list)
	}
}

func TestAuditIsSearchedInAllLines(t *testing.T) {
	s := openTest(t)
	for i, e := range []protocol.AuditEntry{
		{Kind: protocol.AuditCall, By: "owner desk", Node: "tower", SessionKey: "agent:main:main", Tool: "Bash", What: "make -C ./parser test", Verdict: "allow"},
		{Kind: protocol.AuditRuleMade, By: "owner phone", What: "Allow make test", Rule: "r1"},
		{Kind: protocol.AuditCall, By: "rule r1", Node: "nas", Tool: "Write", What: "/srv/Größe.txt", Verdict: "deny", Why: "not here"},
	} {
		e.At = int64(i)
		if err := s.Audit.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		"make": "[2 1]", "MAKE parser": "[1]", "mak tes": "[2 1]", "grosse": "[]", "grö": "[3]", "phone": "[2]", "nas deny": "[3]", "agent:main": "[1]",
		`"*) OR what:x`: "[]", "'": "[3 2 1]", "": "[3 2 1]", "absent": "[]", "ake": "[]",
	} {
		t.Run(query, func(t *testing.T) {
			list, _, err := s.Audit.List(t.Context(), protocol.AuditListParams{Query: query, Limit: 10})
			if err != nil {
				t.Fatalf("the query %q: got error %v, want none", query, err)
			}
			seqs := []int64{}
			for _, e := range list {
				seqs = append(seqs, e.Seq)
			}
			if got := fmt.Sprint(seqs); got != want {
				t.Errorf("%q finds %s, want %s", query, got, want)
			}
		})
	}
	list, more, err := s.Audit.List(t.Context(), protocol.AuditListParams{Query: "make", Limit: 1, Before: 3, Kind: protocol.AuditCall})
	if err != nil || more || len(list) != 1 || list[0].Seq != 1 {
		t.Errorf("with a filter: got %+v, more %v, error %v, want entry 1", list, more, err)
	}
	if res, err := s.Audit.Verify(t.Context(), AuditHead{}); err != nil || res.Broken != 0 {
		t.Errorf("got %+v, error %v, want an unbroken chain", res, err)
	}
}

const auditLines = 1_000_000

func fillAudit(b *testing.B, s *DB) {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 100_000)
	lines := make([]protocol.AuditEntry, 0, 10_000)
	head, err := s.Audit.Head(b.Context()) // an earlier benchmark run may have been interrupted
	if err != nil {
		b.Fatal(err)
	}
	for i := int(head.Seq); i < auditLines; i++ {
		e := protocol.AuditEntry{
			At: int64(i), Kind: protocol.AuditCall, By: "default", Node: "tower", SessionKey: protocol.SessionKey(fmt.Sprint("chat", i%500)), Tool: "Bash",
			What: fmt.Sprintf("go test ./w%d/w%d -run w%d", zipf.Uint64(), zipf.Uint64(), zipf.Uint64()), Verdict: "allow", State: "done",
		}
		if i == 77 {
			e.What = "rare once"
		}
		if i%(auditLines/10) == 7 {
			e.Kind, e.Rule = protocol.AuditRuleMade, "r"
		}
		if lines = append(lines, e); len(lines) == cap(lines) {
			if err := s.Audit.Append(b.Context(), lines...); err != nil {
				b.Fatal(err)
			}
			lines = lines[:0]
		}
	}
}

// BenchmarkAuditOf1000000 measures the audit page over a million entries, which must stay
// responsive.
func BenchmarkAuditOf1000000(b *testing.B) {
	s := openFilled(b, "audit", fillAudit)
	for name, q := range map[string]protocol.AuditListParams{
		"newest":  {},
		"older":   {Before: auditLines / 2},
		"rule":    {Rule: "r"},
		"kind":    {Kind: protocol.AuditRuleMade},
		"chat":    {SessionKey: "chat7"},
		"machine": {Node: "other"},
		"since":   {After: auditLines - 1000},

		"search common":         {Query: "go test"},
		"search rare":           {Query: "rare"},
		"search nothing":        {Query: "nowhere"},
		"search beginning":      {Query: "te"},
		"search rare together":  {Query: "w7 w8 w9"},
		"search never together": {Query: "w0 w1 w2 w3"},
		"search common in chat": {Query: "test", SessionKey: "chat7"},
		"search common of kind": {Query: "test", Kind: protocol.AuditRuleMade},
		"search at no machine":  {Query: "test", Node: "other"},
	} {
		q.Limit = 100
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Audit.List(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			if err := s.Audit.Append(b.Context(), protocol.AuditEntry{Kind: protocol.AuditCall}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if res, err := s.Audit.Verify(b.Context(), AuditHead{}); err != nil || res.Broken != 0 {
				b.Fatalf("got %+v, error %v, want an unbroken chain", res, err)
			}
		}
	})
}
