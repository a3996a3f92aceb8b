package inbox

import (
	"encoding/json"
	"testing"

	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

// TestServersToolIsShownInFull has a question whose tool, description and arguments the person sees.
func TestServersToolIsShownInFull(t *testing.T) {
	q := ask("q", "")
	q.Tool, q.Node, q.Effect, q.Preview, q.Parts, q.Host = "trigger-elicitation-request", "everything", protocol.EffectWrite, nil, nil, nil
	q.Args, q.Why = json.RawMessage(`{"message":"one\ntwo","count":2}`), "Tools of “everything” need your approval"
	q.ServerTool = &protocol.QuestionTool{Server: "everything", Name: "trigger-elicitation-request", Title: "Trigger a question", Description: "Asks the person for input."}
	b := newBench(t, q)
	pagetest.Shot(t, b.window, "approve-server-tool")
	if got, want := b.window.Title(), "everything wants to use “trigger-elicitation-request”"; got != want {
		t.Errorf("title: got %q, want %q", got, want)
	}
	pagetest.Shows(t, b.Box, "Asks the person for input.", "count: 2", "message:")
}
