package app

import (
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestEveryUndoOfferStaysForItsTime(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	var undone []string
	now := time.Now()
	for _, name := range []string{"one", "two"} {
		u.main.Chat.Messages.OfferUndo(name+" was deleted.", func() { undone = append(undone, name) }, now.Add(10*time.Second))
	}
	u.main.Chat.Messages.Show("Saved")
	if len(u.main.Chat.Messages.Offers) != 2 || !u.main.Chat.Messages.Offers[0].Visible() || !u.main.Chat.Messages.Offers[1].Visible() || !u.main.Chat.Messages.Toast.Visible() {
		t.Fatalf("got %d offers; want two and the message, all visible", len(u.main.Chat.Messages.Offers))
	}
	if a, b := u.main.Chat.Messages.Offers[0].Position(), u.main.Chat.Messages.Offers[1].Position(); a.Y+u.main.Chat.Messages.Offers[0].Size().Height > b.Y {
		t.Errorf("they stand on each other: %v, %v", a, b)
	}
	u.main.Chat.Messages.Offers[0].Undo()
	u.tick(now.Add(time.Second))
	if strings.Join(undone, " ") != "one" || len(u.main.Chat.Messages.Offers) != 1 {
		t.Errorf("undone %v, %d offers are left", undone, len(u.main.Chat.Messages.Offers))
	}
	u.tick(now.Add(11 * time.Second))
	if len(u.main.Chat.Messages.Offers) != 0 || len(u.main.Chat.Messages.Box.Objects) != 2 {
		t.Errorf("%d offers stay", len(u.main.Chat.Messages.Offers))
	}
	for range 20 {
		u.main.Chat.Messages.OfferUndo("gone", func() {}, now.Add(10*time.Second))
	}
	if len(u.main.Chat.Messages.Offers) != 5 {
		t.Errorf("%d offers stand over each other, want 5", len(u.main.Chat.Messages.Offers))
	}
}

func TestOffersAppearInTheWindowOfTheAction(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Show()
	const key = protocol.SessionKey("agent:main:2")
	u.main.Chats.OpenWindow(key)
	own := u.main.Chats.Own[key]
	now := time.Now()
	var undone []string
	for _, name := range []string{"one", "two"} {
		u.main.Chats.At(own.Window).Messages.OfferUndo(name+" was deleted.", func() { undone = append(undone, name) }, now.Add(10*time.Second))
	}
	u.places.opener.Link(own.Window, "file:///etc/passwd")
	u.main.Chats.Actions.Archive(true, []protocol.SessionEntry{own.Page.Entry()}, own.Window)
	if n := len(u.main.Chat.Messages.Offers); n != 0 || u.main.Chat.Messages.Toast.Visible() {
		t.Errorf("the main window has %d offers of another window, a message: %v", n, u.main.Chat.Messages.Toast.Visible())
	}
	if n := len(own.Messages.Offers); n != 3 || !own.Messages.Toast.Visible() {
		t.Fatalf("the chat's window has %d offers, want 3 and a text", n)
	}
	own.Messages.Offers[0].Undo()
	u.tick(now.Add(time.Second))
	if strings.Join(undone, " ") != "one" || len(own.Messages.Offers) != 2 {
		t.Errorf("undone %v, %d offers are left", undone, len(own.Messages.Offers))
	}
	u.tick(now.Add(11 * time.Second))
	if n := len(own.Messages.Offers); n != 0 {
		t.Errorf("%d offers stay", n)
	}
	for range 20 {
		own.Messages.OfferUndo("gone", func() {}, now.Add(10*time.Second))
	}
	if n := len(own.Messages.Offers); n != 5 {
		t.Errorf("%d offers stand over each other, want 5", n)
	}
	u.main.Chats.At(u.main.Chat.Window).Messages.OfferUndo("gone", func() {}, now.Add(10*time.Second))
	if len(u.main.Chat.Messages.Offers) != 1 {
		t.Error("an offer of the main window is not there")
	}
}
