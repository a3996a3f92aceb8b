package approval

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// manyRules builds rules with 10,000 saved ones. Deciding a call must stay fast with that many.
func manyRules(b *testing.B) *Rules {
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "x.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	cfg := config.Default().ToolApproval
	r, err := OpenRules(b.Context(), s.Rules, s.Grants, RulesOptions{Config: func() config.Config { return config.Config{ToolApproval: cfg} }})
	if err != nil {
		b.Fatal(err)
	}
	file := struct {
		Default string           `json:"default"`
		Rules   []map[string]any `json:"rules"`
	}{Default: "ask"}
	for i := range 10_000 {
		file.Rules = append(file.Rules, map[string]any{"tool": "Bash", "argv": []string{fmt.Sprint("tool", i), "run", "**"}, "verdict": "allow"})
	}
	raw, err := json.Marshal(file)
	if err != nil {
		b.Fatal(err)
	}
	if res, err := r.Import(b.Context(), "ann", protocol.RulesImportParams{File: raw}); err != nil || res.Added != 10_000 {
		b.Fatal(res, err)
	}
	return r
}

func BenchmarkDecideAmong10000Rules(b *testing.B) {
	r := manyRules(b)
	q := command("tool77 run a && git status")
	for b.Loop() {
		if r.Evaluate(q).Verdict != policy.Ask {
			b.Fatal("not asked")
		}
	}
}

func BenchmarkPutAmong10000Rules(b *testing.B) {
	r := manyRules(b)
	for i := 0; b.Loop(); i++ {
		if _, err := r.Put(b.Context(), "ann", protocol.RulePutParams{Policy: fmt.Appendf(nil, `{"tool":"Bash","argv":["new%d"],"verdict":"allow"}`, i)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkListOf10000Rules(b *testing.B) {
	r := manyRules(b)
	for b.Loop() {
		if all, err := r.All(b.Context()); err != nil || len(all.Rules) != 10_000 {
			b.Fatal(len(all.Rules), err)
		}
	}
}
