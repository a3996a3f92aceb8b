package app

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
)

// maxUndos is the maximum number of offers to undo on the screen; a further one replaces the
// oldest.
const maxUndos = 5

// offerUndo shows a message about a deletion with an Undo button. It stays for its full time,
// whatever other messages follow.
func (s *shell) offerUndo(text string, undo func(), until time.Time) {
	t := widgets.NewToast()
	t.Say(text, undo, time.Now(), until)
	s.undos = append(s.undos, t)
	if len(s.undos) > maxUndos {
		s.undos = s.undos[1:]
	}
	s.stack()
}

// stack lists the messages in their order: offers to undo (newest first), then the current message,
// then the banner with problems of the whole program.
func (s *shell) stack() {
	var list []fyne.CanvasObject
	for _, t := range slices.Backward(s.undos) {
		list = append(list, t)
	}
	s.foot.Objects = append(list, s.toast, s.banner)
	s.body.Refresh()
}

// tickUndos removes expired offers. It reports whether any are left.
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
