package app

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/inbox"
	"fairlead/app/lists"
	"fairlead/app/native"
	"fairlead/app/question"
	"fairlead/app/shortcuts"
	"fairlead/gateway/protocol"
)

// questions shows the pending questions in a window of their own.
type questions struct {
	ui      *ui
	window  fyne.Window // nil while no question is shown
	dialog  *inbox.Dialog
	pending protocol.QuestionID          // question to open once the view has it
	wanted  map[protocol.QuestionID]bool // those that the person has opened, of kinds that do not open themselves
}

// open returns the questions of a view that the dialog shows.
func (w *questions) open(v feed.View) []protocol.Question {
	return inbox.ToOpen(v, func(id protocol.QuestionID) bool { return w.wanted[id] })
}

// update opens the dialog when a question arrives, and closes it when none is left to answer.
func (w *questions) update(v feed.View) {
	open := w.open(v)
	if len(open) == 0 {
		if w.window != nil {
			w.window.Close()
			w.window, w.dialog, w.wanted = nil, nil, nil
			if n := len(v.Questions.Closed); n > 0 && !v.Questions.Closed[n-1].AnsweredHere && v.Needs() == 0 {
				w.ui.messages.Show("This question " + question.EndText(v.Questions.Closed[n-1].Question) + ".")
			}
		}
		return
	}
	if w.window == nil {
		w.openDialog(open, v)
	} else {
		w.dialog.Update(open, v)
	}
	if w.pending != "" {
		w.review(w.pending)
	}
}

func (w *questions) openDialog(open []protocol.Question, v feed.View) {
	w.window = native.NewWindow(w.ui.app, "Fairlead needs you", nil)
	w.dialog = inbox.NewDialog(w.ui.ctx, w.ui.env(), w.window)
	if bar := w.ui.newBar(); bar != nil {
		w.dialog.ShowAbove(bar)
	}
	w.window.SetPadded(false)
	w.window.SetContent(w.dialog)
	w.dialog.Update(open, v)
	w.window.Resize(w.dialog.Best())
	w.window.SetCloseIntercept(w.dialog.Close)
	shortcuts.Add(w.window, fyne.KeyW, w.dialog.Close)
	w.window.CenterOnScreen()
	w.ui.showQuietly(w.window)
	w.dialog.OnScreen(true)
}

// review brings a question to the front, even a snoozed one. Without it, it shows the page of all.
func (w *questions) review(id protocol.QuestionID) { w.bring(id, false) }

// bring is review; together selects that the answer applies to all identical questions.
func (w *questions) bring(id protocol.QuestionID, together bool) {
	w.pending = ""
	v := w.ui.view()
	q, ok := v.Questions.Pending.Find(id)
	switch {
	case !ok && w.window == nil:
		w.ui.main.show()
		w.openPage()
		return
	case q.Later != 0:
		w.pending = id // open it once the view has it again
		w.model().Unsnooze(q)
		return
	case ok:
		w.wanted = lists.MapWith(w.wanted, true, true, id)
		w.update(v)
	}
	w.dialog.Select(id, together)
	w.window.Show()
	w.window.RequestFocus()
}

func (w *questions) model() inbox.Model { return inbox.NewModel(w.ui.backend.Feed) }

const inboxTitle = "Needs you"

func (w *questions) page() page {
	return page{"needsyou", inboxTitle, func(ctx context.Context, _ host.Target) (fyne.CanvasObject, func() bool) {
		p := inbox.New(ctx, w.ui.env())
		w.ui.nav.focus = p.Focus
		return p.Box, nil
	}}
}

func (w *questions) openPage() { w.ui.nav.open(w.page()) }
