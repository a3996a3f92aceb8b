package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/chatwindow"
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
	ctx  context.Context
	app  fyne.App
	env  host.Env // of the main window
	bars chatwindow.Bars
	// showQuietly opens a window without taking the keyboard focus.
	showQuietly func(fyne.Window)

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
				w.env.Say("This question " + question.EndText(v.Questions.Closed[n-1].Question) + ".")
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
	w.window = native.NewWindow(w.app, "Fairlead needs you", nil)
	w.dialog = inbox.NewDialog(w.ctx, w.env, w.window)
	if bar := w.bars.New(); bar != nil {
		w.dialog.ShowAbove(bar)
	}
	w.window.SetPadded(false)
	w.window.SetContent(w.dialog.Box)
	w.dialog.Update(open, v)
	w.window.Resize(w.dialog.Best())
	w.window.SetCloseIntercept(w.dialog.Close)
	shortcuts.Add(w.window, fyne.KeyW, w.dialog.Close)
	w.window.CenterOnScreen()
	w.showQuietly(w.window)
	w.dialog.OnScreen(true)
}

// review brings a question to the front, even a snoozed one. Without it, it shows the page of all.
func (w *questions) review(id protocol.QuestionID) { w.bring(id, false) }

// bring is review; together selects that the answer applies to all identical questions.
func (w *questions) bring(id protocol.QuestionID, together bool) {
	w.pending = ""
	v := w.env.Feed.View()
	q, ok := v.Questions.Pending.Find(id)
	switch {
	case !ok && w.window == nil:
		w.env.Open(host.Question(""))
		return
	case q.Later != 0:
		w.pending = id // open it once the view has it again
		inbox.NewModel(w.env.Feed).Unsnooze(q)
		return
	case ok:
		w.wanted = lists.MapWith(w.wanted, true, true, id)
		w.update(v)
	}
	w.dialog.Select(id, together)
	w.window.Show()
	w.window.RequestFocus()
}

// tick passes the time to the dialog.
func (w *questions) tick(now time.Time) {
	if w.dialog != nil {
		w.dialog.Tick(now)
	}
}
