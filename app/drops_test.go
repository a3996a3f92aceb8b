package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/pagetest"
)

func TestFilesThatAreDraggedShowWhereTheyGo(t *testing.T) {
	u := newTestUI(t)
	u.main.conversation.window.Resize(fyne.NewSize(1120, 760))
	v := sample()
	v.Questions.Pending = nil // their window would be the one that the positions are of
	u.update(v)
	mark := u.main.conversation.mark
	place := fyne.CurrentApp().Driver().AbsolutePositionForObject
	expect := func(text string, area fyne.CanvasObject) {
		t.Helper()
		if !mark.box.Visible() || mark.text.Text != text {
			t.Errorf("got %q, visible %v, want %q", mark.text.Text, mark.box.Visible(), text)
		}
		if place(mark.frame) != place(area) || mark.frame.Size() != area.Size() {
			t.Errorf("%s: highlighted %v %v, want %v %v", text, place(mark.frame), mark.frame.Size(), place(area), area.Size())
		}
	}
	inChat := fyne.NewPos(700, 300)
	u.main.conversation.dragFiles(inChat)
	expect("Drop to attach", u.main.conversation.pane)
	pagetest.Shot(t, u.main.conversation.window, "drop-chat")

	side := u.main.sidebar
	row := side.pool[side.rowsInUse-1]
	u.main.conversation.dragFiles(place(row).AddXY(20, 4))
	expect("Drop to send to nas", row)
	pagetest.Shot(t, u.main.conversation.window, "drop-machine")

	u.main.conversation.mark.hide()
	if mark.box.Visible() {
		t.Error("the highlight remains after the drag")
	}
	u.nav.openTitled(transfersTitle)
	u.main.conversation.dragFiles(inChat)
	expect("Drop to choose a machine", u.nav.box)
	u.main.conversation.mark.hide()
	u.nav.close()

	v.Machines[0].Local = false // the chat's machine is another computer
	u.update(v)
	u.main.conversation.window.Resize(fyne.NewSize(480, 560))
	u.main.conversation.dragFiles(fyne.NewPos(240, 300))
	expect("Drop to send to laptop. Pictures are attached.", u.main.conversation.pane)
	if right := place(mark.label).X + mark.label.Size().Width; right > 480 {
		t.Errorf("the text ends at %v of 480", right)
	}
	pagetest.Shot(t, u.main.conversation.window, "drop-chat-narrow")
	u.main.conversation.mark.hide()
}
