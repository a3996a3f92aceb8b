package app

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
)

// maxUndos is how many offers to undo stand over each other; a further one takes the place of the oldest.
const maxUndos = 5

// offerUndo says what was deleted, with a button that brings it back. It stands until its time is over, whatever else is said or deleted meanwhile.
func (s *shell) offerUndo(text string, undo func(), until time.Time) {
	t := widgets.NewToast()
	t.Say(text, undo, time.Now(), until)
	s.undos = append(s.undos, t)
	if len(s.undos) > maxUndos {
		s.undos = s.undos[1:]
	}
	s.stack()
}

// stack puts what is said over each other: the newest offers to undo at the bottom, then the message, then what is wrong with the whole program.
func (s *shell) stack() {
	var list []fyne.CanvasObject
	for _, t := range slices.Backward(s.undos) {
		list = append(list, t)
	}
	s.foot.Objects = append(list, s.toast, s.banner)
	s.body.Refresh()
}

// tickUndos takes away what can no longer be undone. It reports whether there are any left.
func (s *shell) tickUndos(now time.Time) bool {
	for _, t := range s.undos {
		t.Tick(now)
	}
	n := len(s.undos)
	if s.undos = slices.DeleteFunc(s.undos, func(t *widgets.Toast) bool { return !t.Visible() }); len(s.undos) != n {
		s.stack()
	}
	return len(s.undos) > 0
}
