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
		u.messages.OfferUndo(name+" was deleted.", func() { undone = append(undone, name) }, now.Add(10*time.Second))
	}
	u.messages.Show("Saved")
	if len(u.messages.Offers) != 2 || !u.messages.Offers[0].Visible() || !u.messages.Offers[1].Visible() || !u.messages.Toast.Visible() {
		t.Fatalf("got %d offers; want messages.Offers of length 2, messages.Offers[0].Visible, messages.Offers[1].Visible and messages.Toast.Visible", len(u.messages.Offers))
	}
	if a, b := u.messages.Offers[0].Position(), u.messages.Offers[1].Position(); a.Y+u.messages.Offers[0].Size().Height > b.Y {
		t.Errorf("they stand on each other: %v, %v", a, b)
	}
	u.messages.Offers[0].Undo()
	u.tick(now.Add(time.Second))
	if strings.Join(undone, " ") != "one" || len(u.messages.Offers) != 1 {
		t.Errorf("undone %v, %d offers are left", undone, len(u.messages.Offers))
	}
	u.tick(now.Add(11 * time.Second))
	if len(u.messages.Offers) != 0 || len(u.messages.Box.Objects) != 2 {
		t.Errorf("%d offers stay", len(u.messages.Offers))
	}
	for range 20 {
		u.messages.OfferUndo("gone", func() {}, now.Add(10*time.Second))
	}
	if len(u.messages.Offers) != 5 {
		t.Errorf("%d offers stand over each other", len(u.messages.Offers))
	}
}

func TestOffersAppearInTheWindowOfTheAction(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.show()
	const key = protocol.SessionKey("agent:main:2")
	u.chats.OpenWindow(key)
	own := u.chats.Own[key]
	now := time.Now()
	var undone []string
	for _, name := range []string{"one", "two"} {
		u.chats.At(own.Window).Messages.OfferUndo(name+" was deleted.", func() { undone = append(undone, name) }, now.Add(10*time.Second))
	}
	u.opener.Link(own.Window, "file:///etc/passwd")
	u.chats.Archive(true, []protocol.SessionEntry{own.Page.Entry()}, own.Window)
	if n := len(u.messages.Offers); n != 0 || u.messages.Toast.Visible() {
		t.Errorf("the main window has %d offers of another window, a message: %v", n, u.messages.Toast.Visible())
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
	u.chats.At(u.main.conversation.Window).Messages.OfferUndo("gone", func() {}, now.Add(10*time.Second))
	if len(u.messages.Offers) != 1 {
		t.Error("an offer of the main window is not there")
	}
}
