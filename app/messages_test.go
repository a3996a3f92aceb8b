package app

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/messages"
	"fairlead/gateway/protocol"
)

func TestMessagesStayOnTheirPage(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	listed := func(o fyne.CanvasObject) bool {
		for _, x := range u.messages.Box.Objects {
			if x == o && x.Visible() {
				return true
			}
		}
		return false
	}
	u.nav.openTitled(filesTitle)
	u.messages.Show("Saved.")
	u.messages.OfferUndo("a.txt was deleted.", func() {}, time.Now().Add(time.Minute))
	u.messages.OfferUndoAt(messages.Everywhere, "A chat was deleted.", func() {}, time.Now().Add(time.Minute))
	file, chat := u.messages.Offers[0], u.messages.Offers[1]
	for _, o := range []fyne.CanvasObject{u.messages.Toast, file.Toast, chat.Toast} {
		if !listed(o) {
			t.Error("a message is not shown where it arose")
		}
	}
	u.nav.openTitled(activityTitle)
	if u.messages.Toast.Visible() || listed(file.Toast) || !listed(chat.Toast) {
		t.Errorf("on another page: message %v, offer for the file %v, for the chat %v; want only the last",
			u.messages.Toast.Visible(), listed(file.Toast), listed(chat.Toast))
	}
	u.nav.openTitled(filesTitle)
	if u.messages.Toast.Visible() || !listed(file.Toast) {
		t.Errorf("back on the page: message %v, offer %v; want only the offer", u.messages.Toast.Visible(), listed(file.Toast))
	}
	u.main.open(protocol.MainSession)
	u.messages.Show("Not sent.")
	u.main.open("agent:main:2")
	if u.messages.Toast.Visible() {
		t.Error("a message of one chat is shown in another")
	}
}

func TestMessagesCoverNothingOfAPage(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	for _, size := range []fyne.Size{fyne.NewSize(480, 560), fyne.NewSize(1120, 760)} {
		u.main.conversation.Window.Resize(size)
		u.nav.openTitled(filesTitle)
		whole := u.nav.box.Size().Height
		u.messages.Show("Saved.")
		u.main.body.Refresh() // as after any change
		top := u.messages.Toast.Position().Y
		if bottom := u.nav.box.Position().Y + u.nav.box.Size().Height; bottom > top || bottom < top-20 {
			t.Errorf("%v: the page ends at %v, the message begins at %v", size, bottom, top)
		}
		u.messages.Toast.Close()
		if got := u.nav.box.Size().Height; got != whole {
			t.Errorf("%v: afterwards, the page is %v high, want %v", size, got, whole)
		}
	}
}
