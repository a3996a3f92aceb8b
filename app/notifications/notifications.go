// Package notifications shows what needs the person, and what is new, in notifications of the system
// while no window of the program is in front.
package notifications

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/inbox"
	"fairlead/app/lists"
	"fairlead/app/notify"
	"fairlead/app/question"
	"fairlead/app/settings"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Windows are the windows of the program.
type Windows interface {
	// Show brings the main window to the front.
	Show()
	// Open shows a place.
	Open(host.Target)
	// Say shows a message.
	Say(text string)
	// IsInFront reports whether a window has the focus.
	IsInFront() bool
	// ShowsTransfers reports whether the transfers are visible.
	ShowsTransfers() bool
}

// Notifier shows notifications (notify.Notifier).
type Notifier interface {
	Show(notify.Message)
	Remove(id string)
}

// Notifications are those of the system, shown while no window of Fairlead has the focus. They belong
// to the GUI thread.
type Notifications struct {
	Settings notify.Settings
	Notifier Notifier // nil before [Notifications.Start]

	ctx     context.Context
	feed    *feed.Feed
	windows Windows
	answer  func(protocol.Question, protocol.QuestionAnswerParams)
	// announced questions, in a notification or a window, with the text
	announced map[string]string
	onScreen  map[string]shown // notifications of questions on the screen

	announcedTransfers map[protocol.TransferID]int64 // announced transfers, and when they ended
	announcedRuns      map[protocol.RunID]bool
	answers            map[protocol.SessionKey]bool   // chats with announced answers that nobody has looked at
	news               map[string]protocol.SessionKey // other notifications on the screen, and their chats
	checked            time.Time                      // of the latest check by Tick
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

// New returns the notifications; Start begins showing them. They work until ctx ends.
func New(ctx context.Context, f *feed.Feed, w Windows) *Notifications {
	return &Notifications{
		ctx: ctx, feed: f, windows: w, announced: make(map[string]string), onScreen: make(map[string]shown),
		answer: func(q protocol.Question, p protocol.QuestionAnswerParams) {
			inbox.NewModel(f).Answer([]protocol.Question{q}, p)
		},
	}
}

// Start connects to the system, which shows the notifications until stop is called.
func (ns *Notifications) Start(log *slog.Logger) (stop func()) {
	n := notify.New(notify.Actions{
		Review: func(id string) { bind.Do(ns.ctx, func() { ns.review(id) }) },
		Allow:  func(id string) { bind.Do(ns.ctx, func() { ns.allow(id, time.Now()) }) },
		Deny:   func(id string) { bind.Do(ns.ctx, func() { ns.deny(id) }) },
		Shown: func(id string) {
			if isQuestion(id) {
				inbox.NewModel(ns.feed).MarkShown(protocol.QuestionID(id), protocol.SurfaceNotification)
			}
		},
		Disabled: func(why string) { bind.Do(ns.ctx, func() { ns.windows.Say(why) }) },
	}, log)
	ns.Notifier = n
	return n.Close
}

func (ns *Notifications) review(id string) {
	switch {
	case strings.HasPrefix(id, transferPrefix):
		ns.showAt(host.Transfers)
	case strings.HasPrefix(id, runPrefix), strings.HasPrefix(id, schedulePrefix):
		ns.showAt(host.Chat{Key: ns.news[id]})
	case id == summaryID:
		ns.showAt(host.Question(""))
	case id == testID:
		ns.windows.Open(host.Page(settings.NotificationsTitle))
	default:
		ns.windows.Open(host.Question(id))
	}
}

// showAt brings the main window to the front, at a place.
func (ns *Notifications) showAt(to host.Target) {
	ns.windows.Show()
	ns.windows.Open(to)
}

// allow allows an approval once, exactly as the notification showed it: the gateway refuses the
// answer if the approval has changed. A click that comes too early opens the dialog instead.
func (ns *Notifications) allow(id string, now time.Time) {
	s := ns.onScreen[id]
	if s.question.ID == "" || now.Sub(s.at) < allowDelay {
		ns.windows.Open(host.Question(id))
		return
	}
	ns.answer(s.question, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce})
}

// deny denies a question in its current form, even if the person has not seen the latest change.
func (ns *Notifications) deny(id string) {
	if q, ok := ns.feed.View().Questions.Pending.Find(protocol.QuestionID(id)); ok {
		ns.answer(q, question.Answer(false))
	}
}

// Update announces the pending questions and withdraws the notifications of the others.
func (ns *Notifications) Update(v feed.View, now time.Time) {
	if ns.Notifier == nil {
		return
	}
	want := ns.messages(v, now)
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
		if !ns.windows.IsInFront() && ns.Settings.Allows(m.setting, now) {
			ns.Notifier.Show(m.Message)
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

// messages returns the notifications of questions. One stands for many calls.
func (ns *Notifications) messages(v feed.View, now time.Time) (list []questionMessage) {
	pending := v.Questions.Pending.Unsnoozed()
	isCall := func(q protocol.Question) bool { return question.KindOf(q).IsCall }
	calls := lists.Without(pending, func(q protocol.Question) bool { return !isCall(q) })
	if n := len(calls); n > maxSeparate {
		pending = lists.Without(pending, isCall)
		list = append(list, questionMessage{setting: notify.Questions, Message: notify.Message{
			ID: summaryID, Title: fmt.Sprintf("%d questions need you", n), Body: question.WordsOf(calls[n-1], v, now).Line, Sound: ns.Settings.Sound,
		}})
	}
	for _, q := range pending {
		w := question.WordsOf(q, v, now)
		setting := widgets.Choose(question.KindOf(q).IsOfDevice, notify.Pairing, notify.Questions)
		list = append(list, questionMessage{setting: setting, question: q, Message: notify.Message{
			ID: string(q.ID), Title: w.Title, Body: w.Body, Allow: w.Whole, Deny: w.CanDeny, Sound: ns.Settings.Sound,
		}})
	}
	return list
}

func (ns *Notifications) withdraw(id string) {
	if _, on := ns.onScreen[id]; on {
		ns.Notifier.Remove(id)
		delete(ns.onScreen, id)
	}
}

// WithdrawAll removes all notifications, when a window comes to the front.
func (ns *Notifications) WithdrawAll() {
	for id := range ns.onScreen {
		ns.withdraw(id)
	}
	for id := range ns.news {
		ns.Notifier.Remove(id)
	}
	clear(ns.news)
	ns.answers = nil
}

// Tick withdraws the notifications once a window is in front: not every toolkit reports that.
func (ns *Notifications) Tick(now time.Time) {
	if len(ns.onScreen)+len(ns.news) == 0 || now.Sub(ns.checked) < time.Second {
		return
	}
	ns.checked = now
	if ns.windows.IsInFront() {
		ns.WithdrawAll()
	}
}
