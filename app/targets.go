package app

import (
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/computer"
	"fairlead/app/native"
	"fairlead/app/reach"
	"fairlead/app/shortcuts"
	"fairlead/app/widgets"
)

// targets shows the question whether a gateway may reach an address from this computer, in a window
// of its own. It is a question of this computer's node, and not among those of the gateway.
type targets struct {
	app         fyne.App
	showQuietly func(fyne.Window)

	window   fyne.Window // nil while nothing is asked
	question *widgets.Question
}

// show shows a question in place of the one before; nil closes the window.
func (w *targets) show(q *computer.TargetQuestion) {
	if w.window != nil {
		w.window.Close()
		w.window, w.question = nil, nil
	}
	if q == nil {
		return
	}
	deny := func() { q.Answer(false) }
	w.question = reach.New(q, time.Now())
	w.window = native.NewWindow(w.app, reach.Title(q), nil)
	w.window.SetPadded(false)
	content, size := reach.Framed(w.question)
	w.window.SetContent(content)
	w.window.Resize(size)
	w.window.SetCloseIntercept(deny)
	shortcuts.Add(w.window, fyne.KeyW, deny)
	w.window.CenterOnScreen()
	w.showQuietly(w.window)
}

func (w *targets) tick(now time.Time) {
	if w.question != nil {
		w.question.Tick(now)
	}
}
