package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

// report makes a machine's running call report output.
func (g *gateway) report(id protocol.CallID, tail string) {
	g.t.Helper()
	if ack, err := g.hub.Calls.Progress("tower", protocol.ToolProgress{CallID: id, Tail: tail, Bytes: int64(len(tail))}); err != nil || ack.Dropped {
		g.t.Fatal(ack, err)
	}
}

func TestOutputOfACallThatLostItsMachineIsKept(t *testing.T) {
	m, began := silentMachine()
	g := start(t, m)
	g.cfg.ToolApproval.DefaultDecision = "allow"
	end := g.runInBackground(t.Context(), command("a", "make"))
	waitResult(t, began)
	g.report("a", "tick 1\n")
	g.report("a", "tick 1\ntick 2\n")
	g.tower.Detach()
	e := waitResult(t, end)
	if e.err != nil || e.Info.State != protocol.CallUnknown || e.Info.Tail != "tick 1\ntick 2\n" || !strings.HasSuffix(e.Content.Text(), "tick 2\n") {
		t.Errorf(`got %+v; want no error, Info.State CallUnknown, Info.Tail "tick 1\ntick 2\n" and a Content.Text that ends with "tick 2\n"`, e)
	}
}

func TestOutputOfARunningCallSurvivesACrash(t *testing.T) {
	first, began := silentMachine()
	g := start(t, first)
	g.cfg.ToolApproval.DefaultDecision = "allow"
	ctx, cancel := context.WithCancel(t.Context())
	end := g.runInBackground(ctx, command("a", "make"))
	waitResult(t, began)
	g.report("a", "tick 1\n")
	if row := g.storedCall("a"); row.Info.State != protocol.CallRunning || row.Info.Tail != "tick 1\n" || row.InputSHA256 == "" {
		t.Errorf(`got %+v; want Info.State CallRunning, Info.Tail "tick 1\n" and some InputSHA256`, row)
	}
	g.restart(&tooltest.Machine{})
	cancel()
	waitResult(t, end)
	if res := g.mustRun(command("a", "make")); res.Info.State != protocol.CallUnknown || !strings.HasSuffix(res.Content.Text(), "tick 1\n") {
		t.Errorf(`got %+v; want Info.State CallUnknown and a Content.Text that ends with "tick 1\n"`, res)
	}
	if row := g.storedCall("a"); row.Info.State != protocol.CallUnknown || row.Info.Tail != "tick 1\n" {
		t.Errorf(`got %+v; want Info.State CallUnknown and Info.Tail "tick 1\n"`, row)
	}
}

func TestEditedCallReturnsItsResultBesideTheNote(t *testing.T) {
	m := &tooltest.Machine{Run: func(protocol.ToolInvoke, <-chan struct{}) (any, error) { return "built", nil }}
	g := start(t, m)
	sub := g.bus.Subscribe()
	defer sub.Close()
	end := g.runInBackground(t.Context(), command("a", "make install"))
	q := g.question(sub)
	params := protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Args: json.RawMessage(`{"command":"make"}`)}
	if _, err := g.gate.Answer(t.Context(), auth.Owner("ann"), params); err != nil {
		t.Fatal(err)
	}
	e := waitResult(t, end)
	if !e.Info.Edited || e.Content.ResultText() != "built" || !strings.Contains(e.Content.Text(), "The person changed the call") {
		t.Errorf(`got %+v; want Info.Edited, Content.ResultText "built" and "The person changed the call" in Content.Text`, e)
	}
	if again := g.mustRun(command("a", "make install")); string(again.Info.Args) != `{"command":"make"}` || again.Content.Text() != e.Content.Text() {
		t.Errorf("after a restart: got %+v, want the same call and result", again)
	}
}

func TestPartsOfAChangeAreCounted(t *testing.T) {
	const head = "--- a\n+++ a\n"
	const one, two, three = "@@ -1 +1 @@\n-a\n+b\n", "@@ -9 +9 @@\n c\n-d\n+e\n", "@@ -20 +20 @@\n-f\n+g\n"
	for _, tc := range []struct {
		name, proposed, allowed string
		want                    *protocol.PartialChange
	}{
		{"two of three", head + one + two + three, head + one + three, &protocol.PartialChange{Allowed: 2, Total: 3}},
		{"all", head + one + two, head + one + two, nil},
		{"another text", head + one + two, head + "@@ -1 +1 @@\n-a\n+typed\n", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			diff := tc.proposed
			m := &tooltest.Machine{Preview: func(inv protocol.ToolInvoke) protocol.CallPreview {
				if strings.Contains(string(inv.Args), "edited") {
					return protocol.CallPreview{Path: "/x/a", Diff: tc.allowed}
				}
				return protocol.CallPreview{Path: "/x/a", Diff: diff}
			}}
			g := start(t, m)
			sub := g.bus.Subscribe()
			defer sub.Close()
			c := command("a", "")
			c.Tool, c.Args = "tower__Write", json.RawMessage(`{"path":"/x/a"}`)
			end := g.runInBackground(t.Context(), c)
			q := g.question(sub)
			params := protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Args: json.RawMessage(`{"path":"/x/a","content":"edited"}`)}
			if _, err := g.gate.Answer(t.Context(), auth.Owner("ann"), params); err != nil {
				t.Fatal(err)
			}
			got := waitResult(t, end).Info.Partial
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
