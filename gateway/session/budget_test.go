package session

import (
	"strings"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

func TestBudgetStopsTheRunBeforeItsNextStep(t *testing.T) {
	t.Parallel()
	cost := 0.6
	step := protocol.Usage{Input: 10, Output: 5, Total: 15, Cost: &cost}
	list := llmtest.Call("tower__Bash", `{"command":"ls"}`).Usage(step)
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	g.cfg.Model.Provider, g.cfg.Model.ID = "test", "m"
	g.cfg.Budget.DailyUSD = 1
	g.cfg.ToolApproval.DefaultDecision = "allow"
	g.open(list, list, llmtest.Say("done"))
	r := g.end(g.send("look").RunID)
	if want := "Budget reached: $1.20 of $1.00 used today"; !strings.Contains(r.Error, want) {
		t.Fatalf("got %q, want %q", r.Error, want)
	}
	if left := g.model.Left(); left != 1 {
		t.Errorf("got %d steps left, want 1", left)
	}
	g.set(func(c *config.Config) { c.Budget.DailyUSD = 10 })
	if r := g.end(g.send("go on").RunID); r.Error != "" {
		t.Errorf("with a larger budget: got %q, want no error", r.Error)
	}
}

func TestUsageSurvivesTheChat(t *testing.T) {
	t.Parallel()
	cost := 0.25
	g := withModel(t, llmtest.Say("Hi").Usage(protocol.Usage{Input: 3, Output: 4, Total: 7, Cost: &cost}))
	g.end(g.send("hello").RunID)
	if _, err := g.Delete(t.Context(), protocol.SessionParams{SessionKey: "main"}); err != nil {
		t.Fatal(err)
	}
	got, tokens, err := g.store.Usage.Spent(t.Context(), 0)
	if err != nil || got != cost || tokens != 7 {
		t.Errorf("got $%v, %d tokens (%v), want $%v, 7 tokens", got, tokens, err, cost)
	}
}
