package state

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

func TestQuestionsNameMachinesAsTheirPersonDoes(t *testing.T) {
	q := question
	v := View{Nodes: []protocol.NodeInfo{{ID: q.Node, Name: "The big one"}}}
	if got := v.QuestionLine(q); got != "Run make -j4 on The big one" {
		t.Error(got)
	}
	turned := q
	turned.Args = json.RawMessage(`{"command":"make \u202ekcab"}`)
	if got := v.QuestionLine(turned); got != "Run make ⟨U+202E⟩kcab on The big one" {
		t.Error(got)
	}
	if got := (View{}).QuestionLine(q); got != "Run make -j4 on nas" {
		t.Error(got)
	}
	call := protocol.JournalEntry{Tool: q.Tool, Input: q.Args, Node: q.Node}
	if got := v.CallLine(call); got != "Run make -j4 on The big one" {
		t.Error(got)
	}
}
