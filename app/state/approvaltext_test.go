package state

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

func TestQuestionsNameMachinesAsTheirPersonDoes(t *testing.T) {
	q := question
	v := View{Nodes: []protocol.NodeInfo{{ID: q.Node, Name: "The big one"}}}
	if got := QuestionLine(q, v.Nodes.Name(q.Node)); got != "Run make -j4 on The big one" {
		t.Error(got)
	}
	turned := q
	turned.Args = json.RawMessage(`{"command":"make \u202ekcab"}`)
	if got := QuestionLine(turned, v.Nodes.Name(turned.Node)); got != "Run make ⟨U+202E⟩kcab on The big one" {
		t.Error(got)
	}
	if got := QuestionLine(q, MachineList(nil).Name(q.Node)); got != "Run make -j4 on nas" {
		t.Error(got)
	}
	call := protocol.JournalEntry{Tool: q.Tool, Input: q.Args, Node: q.Node}
	if got := CallLine(call, v.Nodes.Name(call.Node)); got != "Run make -j4 on The big one" {
		t.Error(got)
	}
}
