package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// fakeNotifier records what is on the screen.
type fakeNotifier struct{ did []string }

func (f *fakeNotifier) Show(m notify.Message) {
	f.did = append(f.did, fmt.Sprintf("show %s %q deny %v", m.ID, m.Title, m.Deny))
}
func (f *fakeNotifier) Remove(id string) { f.did = append(f.did, "remove "+id) }

// wants returns a function that checks the actions since its previous call, in any order.
func (f *fakeNotifier) wants(t *testing.T) func(did ...string) {
	return func(did ...string) {
		t.Helper()
		slices.Sort(f.did)
		if got, want := strings.Join(f.did, "; "), strings.Join(did, "; "); got != want {
			t.Errorf("did %s, want %s", got, want)
		}
		f.did = nil
	}
}

func waiting(n int) (v state.View) {
	for i := range n {
		v.Approvals = append(v.Approvals, protocol.Approval{
			ID: protocol.ApprovalID(fmt.Sprint(i)), Kind: protocol.AskCall, Tool: "Bash", Effect: protocol.EffectExec,
			Node: "server", Args: []byte(fmt.Sprintf(`{"command":"make %d"}`, i)),
		})
	}
	return v
}

func TestQuestionsAreNotifiedWhileNobodyLooks(t *testing.T) {
	f := &fakeNotifier{}
	s := &shell{notes: notes{n: f}}
	want := f.wants(t)
	s.notify(waiting(1))
	want(`show 0 "Fairlead wants to run a command" deny true`)
	s.notify(waiting(1))
	want()
	s.notify(waiting(5))
	want("remove 0", `show many "5 questions wait for you" deny false`)
	s.notify(waiting(6))
	want(`show many "6 questions wait for you" deny false`)
	s.notify(state.View{})
	want("remove many")
	s.view = waiting(1)
	s.inFront(true)
	s.notify(waiting(2))
	want()
	s.inFront(false)
	s.notify(waiting(2))
	want() // the dialog was visible
	s.notify(waiting(3))
	want(`show 2 "Fairlead wants to run a command" deny true`)
	s.view = waiting(3)
	s.inFront(true)
	want("remove 2")
}
