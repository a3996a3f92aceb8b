package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/pagetest"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
)

func TestDraggedFilesShowTheirDestination(t *testing.T) {
	u := newTestUI(t)
	u.main.Chat.Window.Resize(fyne.NewSize(1120, 760))
	v := sample()
	v.Questions.Pending = nil // their window would be the one that the positions are of
	u.update(v)
	drops := u.main.Chat.Drops
	place := fyne.CurrentApp().Driver().AbsolutePositionForObject
	expect := func(text string, area fyne.CanvasObject) {
		t.Helper()
		frame, _, got, visible := drops.Mark.Shown()
		if !visible || got != text {
			t.Errorf("got %q, visible %v, want %q", got, visible, text)
		}
		if place(frame) != place(area) || frame.Size() != area.Size() {
			t.Errorf("%s: highlighted %v %v, want %v %v", text, place(frame), frame.Size(), place(area), area.Size())
		}
	}
	inChat := fyne.NewPos(700, 300)
	drops.Drag(inChat)
	expect("Drop to attach", u.main.Chat.Page.Pane)
	pagetest.Shot(t, u.main.Chat.Window, "drop-chat")

	row := widgettest.Find(u.main.Sidebar.Content, func(r *widgets.SidebarRow) bool { return r.Item().Title == "nas" })
	drops.Drag(place(row).AddXY(20, 4))
	expect("Drop to send to nas", row)
	pagetest.Shot(t, u.main.Chat.Window, "drop-machine")

	drops.Hide()
	if _, _, _, visible := drops.Mark.Shown(); visible {
		t.Error("the highlight remains after the drag")
	}
	u.places.nav.open(transfersTitle, nil)
	drops.Drag(inChat)
	expect("Drop to choose a machine", u.main.Pages.Page().Content())
	drops.Hide()
	u.main.Pages.Close()

	v.Machines[0].Local = false // the chat's machine is another computer
	u.update(v)
	u.main.Chat.Window.Resize(fyne.NewSize(480, 560))
	drops.Drag(fyne.NewPos(240, 300))
	expect("Drop to send to laptop. Pictures are attached.", u.main.Chat.Page.Pane)
	_, label, _, _ := drops.Mark.Shown()
	if right := place(label).X + label.Size().Width; right > 480 {
		t.Errorf("the text ends at %v of 480, want at most 480", right)
	}
	pagetest.Shot(t, u.main.Chat.Window, "drop-chat-narrow")
	drops.Hide()
}
