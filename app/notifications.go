package app

import (
	"fmt"
	"strings"
	"time"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/notify"
	"fairlead/app/question"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// notifications are those of the system, shown while no window of Fairlead has the focus.
type notifications struct {
	ui       *ui
	notifier notifier
	settings notify.Settings
	// isInFront reports whether a window of this program has the focus.
	isInFront func() bool
	answer    func(protocol.Question, state.Reply)
	// openDialog shows an approval in the dialog.
	openDialog func(protocol.QuestionID)
	// announced approvals, in a notification or a window, with the text
	announced map[string]string
	onScreen  map[string]shown // notifications of approvals on the screen

	announcedTransfers map[protocol.TransferID]int64 // announced transfers, and when they ended
	announcedRuns      map[protocol.RunID]bool
	answers            map[protocol.SessionKey]bool   // chats with announced answers that nobody has looked at
	news               map[string]protocol.SessionKey // other notifications on the screen, and their chats
	checked            time.Time                      // of the latest check by tick
}

// shown is a notification of an approval.
type shown struct {
	question protocol.Question // as it was shown; zero for the one of several approvals
	at       time.Time
}

// allowDelay is how long a notification must have been visible before its Allow counts, as in the
// dialog: a click that was meant for another window allows nothing.
const allowDelay = question.ArmAfter

// maxSeparate is the largest number of approvals with a notification each; more share one.
const maxSeparate = 3

// summaryID is the name of the notification for several approvals.
const summaryID = "many"

// testID is the name of the notification for a test.
const testID = "test"

// isQuestion reports whether a notification is about one approval, whose ID is its name.
func isQuestion(id string) bool {
	for _, prefix := range []string{transferPrefix, runPrefix, connectPrefix, schedulePrefix} {
		if strings.HasPrefix(id, prefix) {
			return false
		}
	}
	return id != summaryID && id != testID
}

// notifier shows notifications (notify.Notifier).
type notifier interface {
	Show(notify.Message)
	Remove(id string)
}

// newNotifications returns the notifications of a user interface; start begins showing them.
func newNotifications(u *ui) *notifications {
	return &notifications{
		ui: u, isInFront: func() bool { return u.hasFocus },
		answer:     func(q protocol.Question, r state.Reply) { u.backend.state.Approvals.Answer([]protocol.Question{q}, r) },
		openDialog: u.approvals.review,
	}
}

func (ns *notifications) start() (stop func()) {
	n := notify.New(notify.Actions{
		Review: func(id string) { bind.Do(ns.ui.ctx, func() { ns.review(id) }) },
		Allow:  func(id string) { bind.Do(ns.ui.ctx, func() { ns.allow(id, time.Now()) }) },
		Deny:   func(id string) { bind.Do(ns.ui.ctx, func() { ns.deny(id) }) },
		Shown: func(id string) {
			if isQuestion(id) {
				ns.ui.backend.state.Approvals.MarkShown(protocol.QuestionID(id), protocol.SurfaceNotification)
			}
		},
		Disabled: func(why string) { bind.Do(ns.ui.ctx, func() { ns.ui.messages.show(why) }) },
	}, ns.ui.backend.log)
	ns.notifier = n
	return n.Close
}

func (ns *notifications) review(id string) {
	switch {
	case strings.HasPrefix(id, transferPrefix):
		ns.ui.main.show()
		ns.ui.nav.openTitled(transfersTitle)
	case strings.HasPrefix(id, connectPrefix):
		ns.ui.connect.review(protocol.QuestionID(strings.TrimPrefix(id, connectPrefix)))
	case strings.HasPrefix(id, runPrefix), strings.HasPrefix(id, schedulePrefix):
		ns.ui.main.show()
		ns.ui.main.open(ns.news[id])
	case id == summaryID:
		ns.ui.main.show()
		ns.ui.approvals.openInbox()
	case id == testID:
		ns.ui.settings.open()
	default:
		ns.openDialog(protocol.QuestionID(id))
	}
}

// allow allows an approval once, exactly as the notification showed it: the gateway refuses the
// answer if the approval has changed. A click that comes too early opens the dialog instead.
func (ns *notifications) allow(id string, now time.Time) {
	s := ns.onScreen[id]
	if s.question.ID == "" || now.Sub(s.at) < allowDelay {
		ns.openDialog(protocol.QuestionID(id))
		return
	}
	ns.answer(s.question, state.Reply{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce})
}

// deny denies an approval in its current form, even if the person has not seen the latest change.
func (ns *notifications) deny(id string) {
	for _, q := range ns.ui.view().Questions.Pending.OfCalls() {
		if string(q.ID) == id {
			ns.answer(q, state.Reply{Decision: protocol.DecisionDeny})
			return
		}
	}
}

// update announces pending approvals and withdraws the notifications of the others.
func (ns *notifications) update(v feed.View, now time.Time) {
	if ns.notifier == nil {
		return
	}
	if ns.announced == nil {
		ns.announced, ns.onScreen = make(map[string]string), make(map[string]shown)
	}
	want, questions := ns.questionMessages(v)
	devices := make(map[string]bool) // names of notifications of devices that want to pair
	for _, q := range v.Questions.Pending {
		if q.IsOfCall() {
			continue
		}
		id := connectPrefix + string(q.ID)
		text := ""
		switch {
		case q.Pairing != nil:
			devices[id] = true
			text = question.RequestText(q, now)
		case q.App != nil:
			text = question.ConsentText(*q.App)
		case q.Input != nil:
			text, _ = wording.Reveal(format.Line(q.Input.Message, 160))
		case q.Tools != nil:
			text = question.ToolsWait
		case q.Sender != nil:
			text, _ = wording.Reveal(format.Line(q.Sender.FirstMessage, 160))
		}
		want[id] = notify.Message{ID: id, Title: question.Title(q), Body: text, Sound: ns.settings.Sound}
	}
	for id := range ns.announced {
		if _, waits := want[id]; !waits {
			ns.withdraw(id)
			delete(ns.announced, id)
		}
	}
	for id, m := range want {
		text := m.Title + "\n" + m.Body
		if ns.announced[id] == text {
			continue
		}
		ns.announced[id] = text // also when a window is in front: the dialog is visible there
		if !ns.isInFront() && ns.settings.Allows(widgets.Choose(devices[id], notify.Pairing, notify.Questions), now) {
			ns.notifier.Show(m)
			ns.onScreen[id] = shown{questions[id], now}
		}
	}
}

// questionMessages returns the notifications of the pending approvals, and the approvals, by ID.
func (ns *notifications) questionMessages(v feed.View) (map[string]notify.Message, map[string]protocol.Question) {
	list, questions := make(map[string]notify.Message), make(map[string]protocol.Question)
	waiting := v.Questions.Pending.OfCalls().Unsnoozed()
	if len(waiting) > maxSeparate {
		text := fmt.Sprintf("%d questions need you", len(waiting))
		last := waiting[len(waiting)-1]
		newest := question.QuestionLine(last, v.Machines.Name(last.Node))
		list[summaryID] = notify.Message{ID: summaryID, Title: text, Body: newest, Sound: ns.settings.Sound}
		return list, questions
	}
	for _, q := range waiting {
		m := notify.Message{ID: string(q.ID), Title: display.QuestionTitle(q, v.Machines.Name(q.Node)), Body: question.QuestionLine(q, v.Machines.Name(q.Node)) + " · " + q.Why, Deny: !display.IsKeep(q)}
		m.Sound = ns.settings.Sound
		if whole, ok := question.WholeQuestion(v, q); ok {
			m.Body, m.Allow = whole, true
		}
		list[m.ID], questions[m.ID] = m, q
	}
	return list, questions
}

func (ns *notifications) withdraw(id string) {
	if _, on := ns.onScreen[id]; on {
		ns.notifier.Remove(id)
		delete(ns.onScreen, id)
	}
}

// withdrawAll removes all notifications, when a window comes to the front.
func (ns *notifications) withdrawAll() {
	for id := range ns.onScreen {
		ns.withdraw(id)
	}
	for id := range ns.news {
		ns.notifier.Remove(id)
	}
	clear(ns.news)
	ns.answers = nil
}

// tick withdraws the notifications once a window is in front: not every toolkit reports that.
func (ns *notifications) tick(now time.Time) {
	if len(ns.onScreen)+len(ns.news) == 0 || now.Sub(ns.checked) < time.Second {
		return
	}
	ns.checked = now
	if ns.isInFront() {
		ns.withdrawAll()
	}
}

// connectPrefix is the prefix of the names of notifications of devices and apps that ask to connect,
// and of questions of servers.
const connectPrefix = "connect-"
