package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/inbox"
	"fairlead/app/lists"
	"fairlead/app/notify"
	"fairlead/app/question"
	"fairlead/app/settings"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// notifications are those of the system, shown while no window of Fairlead has the focus.
type notifications struct {
	ui       *ui
	notifier notifier
	settings notify.Settings
	// isInFront reports whether a window of this program has the focus.
	isInFront func() bool
	answer    func(protocol.Question, protocol.QuestionAnswerParams)
	// openDialog shows a question in the dialog.
	openDialog func(protocol.QuestionID)
	// announced questions, in a notification or a window, with the text
	announced map[string]string
	onScreen  map[string]shown // notifications of questions on the screen

	announcedTransfers map[protocol.TransferID]int64 // announced transfers, and when they ended
	announcedRuns      map[protocol.RunID]bool
	answers            map[protocol.SessionKey]bool   // chats with announced answers that nobody has looked at
	news               map[string]protocol.SessionKey // other notifications on the screen, and their chats
	checked            time.Time                      // of the latest check by tick
}

// shown is a notification of a question.
type shown struct {
	question protocol.Question // as it was shown; zero for the one of several
	at       time.Time
}

// allowDelay is how long a notification must have been visible before its Allow counts, as in the
// dialog: a click that was meant for another window allows nothing.
const allowDelay = question.ArmAfter

// maxSeparate is the largest number of questions about calls with a notification each; more share one.
const maxSeparate = 3

// summaryID is the name of the notification for several questions.
const summaryID = "many"

// testID is the name of the notification for a test.
const testID = "test"

// isQuestion reports whether a notification is about one question, whose ID is its name.
func isQuestion(id string) bool {
	for _, prefix := range []string{transferPrefix, runPrefix, schedulePrefix} {
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
		answer: func(q protocol.Question, p protocol.QuestionAnswerParams) {
			u.questions.model().Answer([]protocol.Question{q}, p)
		},
		openDialog: u.questions.review,
	}
}

func (ns *notifications) start() (stop func()) {
	n := notify.New(notify.Actions{
		Review: func(id string) { bind.Do(ns.ui.ctx, func() { ns.review(id) }) },
		Allow:  func(id string) { bind.Do(ns.ui.ctx, func() { ns.allow(id, time.Now()) }) },
		Deny:   func(id string) { bind.Do(ns.ui.ctx, func() { ns.deny(id) }) },
		Shown: func(id string) {
			if isQuestion(id) {
				ns.ui.questions.model().MarkShown(protocol.QuestionID(id), protocol.SurfaceNotification)
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
	case strings.HasPrefix(id, runPrefix), strings.HasPrefix(id, schedulePrefix):
		ns.ui.main.show()
		ns.ui.main.open(ns.news[id])
	case id == summaryID:
		ns.ui.main.show()
		ns.ui.questions.openPage()
	case id == testID:
		ns.ui.settings.openPage(settings.NotificationsTitle)
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
	ns.answer(s.question, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce})
}

// deny denies a question in its current form, even if the person has not seen the latest change.
func (ns *notifications) deny(id string) {
	if q, ok := ns.ui.view().Questions.Pending.Find(protocol.QuestionID(id)); ok {
		ns.answer(q, question.Answer(false))
	}
}

// update announces the pending questions and withdraws the notifications of the others.
func (ns *notifications) update(v feed.View, now time.Time) {
	if ns.notifier == nil {
		return
	}
	if ns.announced == nil {
		ns.announced, ns.onScreen = make(map[string]string), make(map[string]shown)
	}
	want := ns.messages(inbox.Notices(v, now))
	for id := range ns.announced {
		if !slices.ContainsFunc(want, func(m questionMessage) bool { return m.ID == id }) {
			ns.withdraw(id)
			delete(ns.announced, id)
		}
	}
	for _, m := range want {
		text := m.Title + "\n" + m.Body
		if ns.announced[m.ID] == text {
			continue
		}
		ns.announced[m.ID] = text // also when a window is in front: the dialog is visible there
		if !ns.isInFront() && ns.settings.Allows(m.setting, now) {
			ns.notifier.Show(m.Message)
			ns.onScreen[m.ID] = shown{m.question, now}
		}
	}
}

// questionMessage is a notification of a question.
type questionMessage struct {
	notify.Message
	setting  notify.Kind
	question protocol.Question // zero for the notification of several
}

// messages returns the notifications of questions. One stands for many that can be merged.
func (ns *notifications) messages(notices []inbox.Notice) (list []questionMessage) {
	merge := lists.Without(notices, func(n inbox.Notice) bool { return !n.CanMerge })
	if n := len(merge); n > maxSeparate {
		notices = lists.Without(notices, func(n inbox.Notice) bool { return n.CanMerge })
		list = append(list, questionMessage{setting: notify.Questions, Message: notify.Message{
			ID: summaryID, Title: fmt.Sprintf("%d questions need you", n), Body: merge[n-1].Line, Sound: ns.settings.Sound,
		}})
	}
	for _, n := range notices {
		setting := widgets.Choose(n.IsOfDevice, notify.Pairing, notify.Questions)
		list = append(list, questionMessage{setting: setting, question: n.Question, Message: notify.Message{
			ID: string(n.Question.ID), Title: n.Title, Body: n.Body, Allow: n.Whole, Deny: n.CanDeny, Sound: ns.settings.Sound,
		}})
	}
	return list
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
