package question

import (
	"encoding/json"
	"testing"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

func TestQuestionsShowMachineDisplayNames(t *testing.T) {
	q := protocol.Question{Kind: protocol.AskCall, Node: "nas", Tool: "Bash", Args: json.RawMessage(`{"command":"make -j4\nmake install"}`), Effect: protocol.EffectExec}
	v := feed.View{Machines: []protocol.NodeInfo{{ID: q.Node, Name: "The big one"}}}
	if got, want := QuestionLine(q, v.Machines.Name(q.Node)), "Run make -j4 on The big one"; got != want {
		t.Errorf("QuestionLine: got %q, want %q", got, want)
	}
	turned := q
	turned.Args = json.RawMessage(`{"command":"make \u202ekcab"}`)
	if got, want := QuestionLine(turned, v.Machines.Name(turned.Node)), "Run make ⟨U+202E⟩kcab on The big one"; got != want {
		t.Errorf("QuestionLine: got %q, want %q", got, want)
	}
	if got, want := QuestionLine(q, feed.MachineList(nil).Name(q.Node)), "Run make -j4 on nas"; got != want {
		t.Errorf("QuestionLine: got %q, want %q", got, want)
	}
	call := protocol.JournalEntry{Tool: q.Tool, Input: q.Args, Node: q.Node}
	if got, want := CallLine(call, v.Machines.Name(call.Node)), "Run make -j4 on The big one"; got != want {
		t.Errorf("CallLine: got %q, want %q", got, want)
	}
}
