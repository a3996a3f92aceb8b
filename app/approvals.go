package app

import (
	"context"
	"encoding/json"

	"fyne.io/fyne/v2"

	"fairlead/app/approve"
	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/native"
	"fairlead/app/question"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// approvals shows the pending approvals: in a window of their own, and on a page.
type approvals struct {
	ui      *ui
	window  fyne.Window // nil while no approval is shown
	dialog  *approve.Dialog
	pending protocol.QuestionID // approval to open once the view has it
	inbox   *approve.Inbox      // nil while its page is closed
}

// update opens the dialog when an approval arrives, and closes it when none is left to answer.
func (a *approvals) update(v feed.View) {
	waiting := v.Questions.Pending.OfCalls().Unsnoozed()
	if len(waiting) == 0 {
		if a.window != nil {
			a.window.Close()
			a.window, a.dialog = nil, nil
			if n := len(v.Questions.Closed); n > 0 && !v.Questions.Closed[n-1].AnsweredHere && len(v.Questions.Pending.OfCalls()) == 0 {
				a.ui.messages.show("This approval was answered elsewhere: " + question.OutcomeText(v.Questions.Closed[n-1].Question) + ".")
			}
		}
		return
	}
	if a.window == nil {
		a.openDialog(v)
	} else {
		a.dialog.Update(waiting, v.Questions.Closed)
	}
	if a.pending != "" {
		a.review(a.pending)
	}
}

func (a *approvals) openDialog(v feed.View) {
	w := native.NewWindow(a.ui.app, "Fairlead needs you", nil)
	a.window = w
	a.dialog = approve.New(a.handlers(w), &a.ui.machines, w.Canvas())
	w.SetPadded(false)
	w.SetContent(a.dialog)
	a.dialog.Update(v.Questions.Pending.OfCalls().Unsnoozed(), nil)
	w.Resize(a.dialog.Best())
	w.SetCloseIntercept(a.dialog.Deny)
	w.CenterOnScreen()
	a.ui.showQuietly(w)
	a.dialog.OnScreen(true)
}

// review brings an approval to the front, even a snoozed one.
func (a *approvals) review(id protocol.QuestionID) {
	a.pending = ""
	for _, q := range a.ui.view().Questions.Pending {
		if q.ID == id && q.Later != 0 {
			a.pending = id // open it once the view has it again
			a.ui.backend.state.Approvals.Unsnooze(id)
			return
		}
	}
	if a.window == nil {
		return
	}
	a.dialog.Select(id)
	a.window.Show()
	a.window.RequestFocus()
}

// reviewAll brings an approval to the front, to be answered together with all identical ones.
func (a *approvals) reviewAll(id protocol.QuestionID) {
	a.review(id)
	if a.dialog != nil && a.dialog.Current().ID == id {
		a.dialog.TogetherWithAlike()
	}
}

func (a *approvals) handlers(w fyne.Window) approve.Handlers {
	app := a.ui.backend.state
	return approve.Handlers{
		Answer: app.Approvals.Answer,
		Shown:  func(id protocol.QuestionID) { app.Approvals.MarkShown(id, "") },
		Snooze: app.Approvals.Snooze,
		Copy:   a.ui.app.Clipboard().SetContent,
		Resize: w.Resize,
		Title:  w.SetTitle,
		Try: func(policy json.RawMessage, done func(protocol.RuleTryResult, error)) {
			bind.Go(a.ui.ctx, func(ctx context.Context) (protocol.RuleTryResult, error) {
				return feed.TryRule(ctx, app, policy)
			}, done)
		},
	}
}

// updateInbox shows the questions on their page, if it is open.
func (a *approvals) updateInbox(v feed.View) {
	if a.inbox != nil {
		a.inbox.Update(v)
	}
}

const inboxTitle = "Needs you"

func (a *approvals) inboxPage() page {
	return page{"needsyou", inboxTitle, func(context.Context) (fyne.CanvasObject, func() bool) {
		app := a.ui.backend.state
		a.inbox = approve.NewInbox(approve.InboxHandlers{
			Answer: app.Questions.Answer, OpenURL: a.ui.opener.openLink,
			Review: a.review, ReviewAll: a.reviewAll, Wake: app.Approvals.Unsnooze, Snooze: app.Approvals.Snooze, Chat: a.ui.main.open,
			Deny: func(list []protocol.Question) {
				app.Approvals.Answer(list, state.Reply{Decision: protocol.DecisionDeny})
			},
		}, &a.ui.machines)
		a.inbox.Update(a.ui.view())
		return a.inbox.Box, nil
	}}
}

func (a *approvals) openInbox() { a.ui.nav.open(a.inboxPage()) }
