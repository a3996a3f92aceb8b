package app

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/chat"
	"fairlead/app/widgets"
)

// toasts are the messages at the foot of a chat's own window. The main window has messages instead.
type toasts struct {
	box     *fyne.Container // of the offers to undo, the newest first, and the message
	message *widgets.Toast
}

func newToasts(pane *chat.Pane) *toasts {
	t := &toasts{}
	t.message = widgets.NewToast(t.layOut)
	t.box = container.New(&toastLayout{pane: pane}, t.message)
	return t
}

func (t *toasts) layOut() { t.box.Layout.Layout(t.box.Objects, t.box.Size()) }

// show shows a message for a while.
func (t *toasts) show(text string) {
	now := time.Now()
	t.message.ShowMessage(text, nil, now, now.Add(messageTime))
	t.box.Refresh()
}

// offerUndo shows a message with an Undo button, for its full time.
func (t *toasts) offerUndo(text string, undo func(), until time.Time) {
	offer := widgets.NewToast(t.layOut)
	offer.ShowMessage(text, undo, time.Now(), until)
	t.box.Objects = append([]fyne.CanvasObject{offer}, t.box.Objects...)
	if n := len(t.box.Objects); n > maxUndos+1 { // beside the message, which is the last
		t.box.Objects = slices.Delete(t.box.Objects, n-2, n-1)
	}
	t.box.Refresh()
}

// tick passes the time to the messages, and removes expired offers.
func (t *toasts) tick(now time.Time) {
	was := len(t.box.Objects)
	for _, o := range t.box.Objects {
		o.(*widgets.Toast).Tick(now)
	}
	t.box.Objects = slices.DeleteFunc(t.box.Objects, func(o fyne.CanvasObject) bool { return o != t.message && !o.Visible() })
	switch {
	case len(t.box.Objects) != was:
		t.box.Refresh()
	case was > 1 || t.message.Visible():
		t.layOut() // the areas to keep free may have moved
	}
}
