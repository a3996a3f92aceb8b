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
	u := notifiedUI(f)
	want := f.wants(t)
	u.notes.update(waiting(1))
	want(`show 0 "Fairlead wants to run a command" deny true`)
	u.notes.update(waiting(1))
	want()
	u.notes.update(waiting(5))
	want("remove 0", `show many "5 approvals need you" deny false`)
	u.notes.update(waiting(6))
	want(`show many "6 approvals need you" deny false`)
	u.notes.update(state.View{})
	want("remove many")
	u.view = waiting(1)
	u.setFocused(true)
	u.notes.update(waiting(2))
	want()
	u.setFocused(false)
	u.notes.update(waiting(2))
	want() // the dialog was visible
	u.notes.update(waiting(3))
	want(`show 2 "Fairlead wants to run a command" deny true`)
	u.view = waiting(3)
	u.setFocused(true)
	want("remove 2")
}

// notifiedUI returns a user interface that has nothing but notifications.
func notifiedUI(n notifier) *ui {
	u := &ui{approvals: &approvals{}, nav: &navigator{}}
	u.notes = &notifications{ui: u, notifier: n}
	return u
}
