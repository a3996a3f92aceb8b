package app

import (
	"fmt"
	"strings"

	"fairlead/app/bind"
	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// maxNotes is the largest number of approvals with a notification each; more share one.
const maxNotes = 3

// manyNote is the name of the notification for several approvals.
const manyNote = "many"

// notes shows notifications for pending approvals while no window of Fairlead has the focus.
type notes struct {
	n     notifier
	front bool // a window of this program has the focus
	// approvals that were announced, in a notification or a window
	told  map[string]string
	up    map[string]bool               // notifications on the screen
	ended map[protocol.TransferID]int64 // announced transfers, and when they ended
	news  []string                      // notifications of transfers on the screen
}

// notifier shows notifications (notify.Notifier).
type notifier interface {
	Show(notify.Message)
	Remove(id string)
}

// startNotes starts notifying the person; stop stops it.
func (s *shell) startNotes() (stop func()) {
	n := notify.New(notify.Actions{
		Review: func(id string) { bind.Do(s.ctx, func() { s.reviewNote(id) }) },
		Deny:   func(id string) { bind.Do(s.ctx, func() { s.denyNote(id) }) },
		Shown: func(id string) {
			if id != manyNote && !strings.HasPrefix(id, transferNote) {
				s.b.state.Approvals.MarkShown(protocol.ApprovalID(id), protocol.SurfaceNotification)
			}
		},
		Off: func(why string) { bind.Do(s.ctx, func() { s.say(why) }) },
	}, s.b.log)
	s.notes.n = n
	return n.Close
}

func (s *shell) reviewNote(id string) {
	s.show()
	if s.reviewTransfers(id) {
		return
	}
	if id == manyNote {
		s.openInbox()
		return
	}
	s.review(protocol.ApprovalID(id))
}

// denyNote denies an approval in its current form: a denial does not require the person to see the
// latest change.
func (s *shell) denyNote(id string) {
	for _, q := range s.view.Approvals {
		if string(q.ID) == id {
			s.b.state.Approvals.Answer([]protocol.Approval{q}, state.Reply{Decision: protocol.DecisionDeny})
			return
		}
	}
}

// notify announces pending approvals and withdraws the notifications of the others.
func (s *shell) notify(v state.View) {
	if s.notes.n == nil {
		return
	}
	want := make(map[string]notify.Message)
	if waiting := v.Waiting(); len(waiting) > maxNotes {
		text := fmt.Sprintf("%d questions wait for you", len(waiting))
		want[manyNote] = notify.Message{ID: manyNote, Title: text, Body: v.QuestionLine(waiting[len(waiting)-1])}
	} else {
		for _, q := range waiting {
			want[string(q.ID)] = notify.Message{ID: string(q.ID), Title: state.QuestionTitle(q), Body: v.QuestionLine(q) + " · " + q.Why, Deny: true}
		}
	}
	if s.notes.told == nil {
		s.notes.told, s.notes.up = make(map[string]string), make(map[string]bool)
	}
	for id := range s.notes.told {
		_, waits := want[id]
		if s.notes.up[id] && (!waits || s.notes.front) {
			s.notes.n.Remove(id)
			delete(s.notes.up, id)
		}
		if !waits {
			delete(s.notes.told, id)
		}
	}
	for id, m := range want {
		text := m.Title + "\n" + m.Body
		if s.notes.told[id] == text {
			continue
		}
		s.notes.told[id] = text // also when a window is in front: the dialog is visible there
		if !s.notes.front {
			s.notes.n.Show(m)
			s.notes.up[id] = true
		}
	}
}

// inFront records whether a window of this program has the focus.
func (s *shell) inFront(on bool) {
	s.notes.front = on
	if on {
		s.activated()
		s.notify(s.view) // withdraws the notifications
		s.seenTransfers()
	}
}
