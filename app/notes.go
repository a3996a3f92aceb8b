package app

import (
	"fmt"
	"strings"

	"fairlead/app/bind"
	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// maxNotes is how many questions get a notification each; more get one together.
const maxNotes = 3

// manyNote is the notification for several questions.
const manyNote = "many"

// notes are the notifications of the questions that wait while no window of Fairlead has the keyboard.
type notes struct {
	n     notifier
	front bool                          // a window of ours has the keyboard
	told  map[string]string             // what the person was told of, there or in a window
	up    map[string]bool               // what is on the screen
	ended map[protocol.TransferID]int64 // transfers that the person was told of, and when they had ended
	news  []string                      // what is on the screen of them
}

// notifier shows notifications (notify.Notifier).
type notifier interface {
	Show(notify.Message)
	Remove(id string)
}

// startNotes begins to notify the person. stop ends it.
func (s *shell) startNotes() (stop func()) {
	n := notify.New(notify.Actions{
		Review: func(id string) { bind.Do(s.ctx, func() { s.reviewNote(id) }) },
		Deny:   func(id string) { bind.Do(s.ctx, func() { s.denyNote(id) }) },
		Shown: func(id string) {
			if id != manyNote && !strings.HasPrefix(id, transferNote) {
				s.b.state.ShownOn(protocol.ApprovalID(id), protocol.SurfaceNotification)
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

// denyNote denies a question as it is now: a denial needs no look at what changed.
func (s *shell) denyNote(id string) {
	for _, q := range s.view.Approvals {
		if string(q.ID) == id {
			s.b.state.Reply([]protocol.Approval{q}, state.Reply{Decision: protocol.DecisionDeny})
			return
		}
	}
}

// notify shows what waits, and takes back what does not any more.
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
		s.notes.told[id] = text // also when a window of ours is in front: the dialog is seen there
		if !s.notes.front {
			s.notes.n.Show(m)
			s.notes.up[id] = true
		}
	}
}

// inFront notes whether a window of ours has the keyboard.
func (s *shell) inFront(on bool) {
	s.notes.front = on
	if on {
		s.activated()
		s.notify(s.view) // takes back what is on the screen
		s.seenTransfers()
	}
}
