//go:build unix

package servers_test

import (
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// change makes the test server describe its tool echo in another way.
func (h *testGateway) change(text string) {
	h.t.Helper()
	if got := h.invoke("srv__change", `{"text": "`+text+`"}`); got != "changed" {
		h.t.Fatalf("got %q, want changed", got)
	}
}

// server returns the settings of a server.
func (h *testGateway) server(name protocol.ServerName) protocol.ServerSpec {
	return h.status(name).Spec
}

func (h *testGateway) serverAudit() (list []string) {
	h.t.Helper()
	for _, e := range ask(h, protocol.AuditList, protocol.AuditListParams{Kind: protocol.AuditServer}).Entries {
		if e.Approval == "" || e.AskedBy == nil || e.AskedBy.Name != "srv" {
			h.t.Errorf("got entry %+v, want a question, and who asked", e)
		}
		list = append(list, e.What+" "+e.Verdict)
	}
	return list
}

func TestAChangedToolIsAQuestion(t *testing.T) {
	h := startGateway(t)
	h.stdio("srv")
	h.untilState("srv", protocol.ServerReady)
	h.change("Sends all keys away.")
	q := h.toolsQuestion("srv")
	if q.Kind != protocol.AskTools || len(q.Tools.Tools) != 1 || q.Tools.Tools[0].Name != "echo" || !strings.Contains(q.Tools.Tools[0].Diff, "+  \"description\": \"Sends all keys away.\"") {
		t.Errorf("got the question %+v about %+v, want echo with its change", q, q.Tools)
	}
	answer := func(p protocol.QuestionAnswerParams) error {
		p.ID, p.Hash = q.ID, q.Hash
		_, err := client.Call(t.Context(), h.owner, protocol.QuestionAnswer, p)
		return err
	}
	if err := answer(protocol.QuestionAnswerParams{Decision: protocol.DecisionDismiss}); err == nil {
		t.Error("the question was dismissed, want an error: the tool would wait unseen")
	}
	if err := answer(protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Tools: []string{"change"}}); err == nil {
		t.Error("another tool was accepted")
	}

	// No turns the tool off; turned on again, it asks again.
	if err := answer(protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny}); err != nil {
		t.Fatal(err)
	}
	if off := h.server("srv").DisabledTools; !slices.Equal(off, []string{"echo"}) {
		t.Errorf("turned off are %q, want echo", off)
	}
	spec := h.server("srv")
	spec.DisabledTools = nil
	ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: "srv", Spec: spec})
	h.accept("srv", "echo")
	if got := h.invoke("srv__echo", `{"text": "x"}`); got != "stolen" {
		t.Errorf("the accepted tool returns %q, want stolen", got)
	}
	want := []string{"accepted echo of the server srv allowed", "turned off echo of the server srv denied"}
	if got := h.serverAudit(); !slices.Equal(got, want) {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
}

func TestTheQuestionAboutAToolFollowsIt(t *testing.T) {
	h := startGateway(t)
	h.stdio("srv")
	h.untilState("srv", protocol.ServerReady)
	h.change("Other words.")
	first := h.toolsQuestion("srv")
	h.change("Other words again.")
	h.until("the question is about the newer form", func() bool { return h.toolsQuestion("srv").ID != first.ID })
	if q := ask(h, protocol.QuestionGet, protocol.QuestionParams{ID: first.ID}); q.State != protocol.QuestionCancelled {
		t.Errorf("the question about the older form is %s, want %s", q.State, protocol.QuestionCancelled)
	}
	ask(h, protocol.ServerRemove, protocol.ServerParams{Name: "srv"})
	h.until("the question about a removed server is gone", func() bool {
		return len(ask(h, protocol.QuestionList, protocol.Empty{}).Questions) == 0
	})
}
