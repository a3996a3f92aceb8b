package main

import (
	"bytes"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestApproveOnceContinuesARunOnce(t *testing.T) {
	var shown bytes.Buffer
	term := &terminal{out: &shown, err: &shown, approve: protocol.ScopeOnce}
	decisions := func(kinds ...string) (list []string) {
		for _, kind := range kinds {
			answer, ok := term.presetAnswer(protocol.Question{ID: "q", Hash: "h", Kind: kind})
			if !ok || answer.ID != "q" || answer.Hash != "h" {
				t.Errorf("%s: got %+v, %v, want an answer to the question", kind, answer, ok)
			}
			list = append(list, answer.Decision)
		}
		return list
	}
	got := decisions(protocol.AskCall, protocol.AskContinue, protocol.AskCall, protocol.AskContinue)
	if text := strings.Join(got, " "); text != "allow allow allow deny" {
		t.Errorf("got %s, want that only the second question whether to continue is denied", text)
	}
	if !strings.Contains(shown.String(), "Send a message to continue") {
		t.Errorf("got %q, want the reason why the run ends", shown.String())
	}
}

func TestApproveDenyDeniesEverything(t *testing.T) {
	term := &terminal{approve: protocol.DecisionDeny}
	for _, kind := range []string{protocol.AskCall, protocol.AskContinue} {
		if answer, ok := term.presetAnswer(protocol.Question{Kind: kind}); !ok || answer.Decision != protocol.DecisionDeny {
			t.Errorf("%s: got %+v, %v, want a denial", kind, answer, ok)
		}
	}
	if _, ok := (&terminal{}).presetAnswer(protocol.Question{}); ok {
		t.Error("got an answer without --approve, want none")
	}
}
