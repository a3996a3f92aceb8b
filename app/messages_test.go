package app

import (
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/messages"
	"fairlead/app/pagetest"
	"fairlead/app/shortcuts"
	"fairlead/gateway/protocol"
)

func TestMessagesStayOnTheirPage(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	listed := func(o fyne.CanvasObject) bool {
		for _, x := range u.main.Chat.Messages.Box.Objects {
			if x == o && x.Visible() {
				return true
			}
		}
		return false
	}
	u.places.nav.open(filesTitle, nil)
	u.main.Chat.Messages.Show("Saved.")
	u.main.Chat.Messages.OfferUndo("a.txt was deleted.", func() {}, time.Now().Add(time.Minute))
	u.main.Chat.Messages.OfferUndoAt(messages.Everywhere, "A chat was deleted.", func() {}, time.Now().Add(time.Minute))
	file, chat := u.main.Chat.Messages.Offers[0], u.main.Chat.Messages.Offers[1]
	for _, o := range []fyne.CanvasObject{u.main.Chat.Messages.Toast, file.Toast, chat.Toast} {
		if !listed(o) {
			t.Error("a message is not shown where it arose")
		}
	}
	u.places.nav.open(activityTitle, nil)
	if u.main.Chat.Messages.Toast.Visible() || listed(file.Toast) || !listed(chat.Toast) {
		t.Errorf("on another page: message %v, offer for the file %v, for the chat %v; want only the last",
			u.main.Chat.Messages.Toast.Visible(), listed(file.Toast), listed(chat.Toast))
	}
	u.places.nav.open(filesTitle, nil)
	if u.main.Chat.Messages.Toast.Visible() || !listed(file.Toast) {
		t.Errorf("back on the page: message %v, offer %v; want only the offer", u.main.Chat.Messages.Toast.Visible(), listed(file.Toast))
	}
	u.main.Open(protocol.MainSession)
	u.main.Chat.Messages.Show("Not sent.")
	u.main.Open("agent:main:2")
	if u.main.Chat.Messages.Toast.Visible() {
		t.Error("a message of one chat is shown in another")
	}
}

func TestCtrlZUndoesWhatTheNewestMessageOffers(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.places.nav.open(filesTitle, nil)
	undone := 0
	u.main.Chat.Messages.OfferUndo("a.txt was deleted.", func() { undone++ }, time.Now().Add(time.Minute))
	keys := mainKeys(u.main, u.env(nil), u.Quit)
	undo := keys[slices.IndexFunc(keys, func(b shortcuts.Binding) bool { return b.Key == fyne.KeyZ })]
	undo.Do()
	undo.Do()
	if undone != 1 {
		t.Errorf("after Ctrl+Z twice: undone %d times, want once", undone)
	}
	pagetest.Shows(t, u.main.Chat.Messages.Toast, "There is nothing to undo.")
}

func TestMessagesCoverNothingOfAPage(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	for _, size := range []fyne.Size{fyne.NewSize(480, 560), fyne.NewSize(1120, 760)} {
		u.main.Chat.Window.Resize(size)
		u.places.nav.open(filesTitle, nil)
		whole := u.main.Pages.Page().Content().Size().Height
		u.main.Chat.Messages.Show("Saved.")
		u.main.Chat.Window.Content().Refresh() // as after any change
		top := u.main.Chat.Messages.Toast.Position().Y
		if bottom := u.main.Pages.Page().Content().Position().Y + u.main.Pages.Page().Content().Size().Height; bottom > top || bottom < top-20 {
			t.Errorf("%v: the page ends at %v, the message begins at %v", size, bottom, top)
		}
		u.main.Chat.Messages.Toast.Close()
		if got := u.main.Pages.Page().Content().Size().Height; got != whole {
			t.Errorf("%v: afterwards, the page is %v high, want %v", size, got, whole)
		}
	}
}
