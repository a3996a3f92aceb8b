package app

import (
	"strings"
	"testing"
	"time"

	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func TestDeletedChatsAreNamed(t *testing.T) {
	list := []protocol.SessionEntry{{Title: "Fix the\nparser"}, {}, {}}
	for n, want := range map[int]string{1: "“Fix the parser” was deleted.", 3: "3 chats were deleted."} {
		if got := deletedText(list[:n]); got != want {
			t.Errorf("%d chats: %q, want %q", n, got, want)
		}
	}
}

func TestEveryOfferToUndoStandsItsTime(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	var undone []string
	now := time.Now()
	for _, name := range []string{"one", "two"} {
		u.messages.offerUndo(name+" was deleted.", func() { undone = append(undone, name) }, now.Add(10*time.Second))
	}
	u.messages.show("Saved")
	if len(u.messages.undos) != 2 || !u.messages.undos[0].Visible() || !u.messages.undos[1].Visible() || !u.messages.toast.Visible() {
		t.Fatalf("%d offers", len(u.messages.undos))
	}
	if a, b := u.messages.undos[0].Position(), u.messages.undos[1].Position(); a.Y+u.messages.undos[0].Size().Height > b.Y {
		t.Errorf("they stand on each other: %v, %v", a, b)
	}
	u.messages.undos[0].Undo()
	u.tick(now.Add(time.Second))
	if strings.Join(undone, " ") != "one" || len(u.messages.undos) != 1 {
		t.Errorf("undone %v, %d offers are left", undone, len(u.messages.undos))
	}
	u.tick(now.Add(11 * time.Second))
	if len(u.messages.undos) != 0 || len(u.messages.box.Objects) != 2 {
		t.Errorf("%d offers stay", len(u.messages.undos))
	}
	for range 20 {
		u.messages.offerUndo("gone", func() {}, now.Add(10*time.Second))
	}
	if len(u.messages.undos) != maxUndos {
		t.Errorf("%d offers stand over each other", len(u.messages.undos))
	}
}

func TestOffersAppearInTheWindowOfTheAction(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.show()
	const key = protocol.SessionKey("agent:main:2")
	u.chats.openWindow(key)
	own := u.chats.windows[key]
	now := time.Now()
	var undone []string
	for _, name := range []string{"one", "two"} {
		u.messages.offerUndoIn(own.window, name+" was deleted.", func() { undone = append(undone, name) }, now.Add(10*time.Second))
	}
	u.opener.openLinkIn(own.window, "file:///etc/passwd")
	u.chats.archive(true, []protocol.SessionEntry{own.page.Entry()}, own.window)
	if n := len(u.messages.undos); n != 0 || u.messages.toast.Visible() {
		t.Errorf("the main window has %d offers of another window, a message: %v", n, u.messages.toast.Visible())
	}
	if n := len(own.toasts.box.Objects); n != 4 || !own.toasts.message.Visible() {
		t.Fatalf("the chat's window has %d messages, want 3 offers and a text", n)
	}
	own.toasts.box.Objects[2].(*widgets.Toast).Undo()
	u.tick(now.Add(time.Second))
	if strings.Join(undone, " ") != "one" || len(own.toasts.box.Objects) != 3 {
		t.Errorf("undone %v, %d messages are left", undone, len(own.toasts.box.Objects))
	}
	u.tick(now.Add(11 * time.Second))
	if n := len(own.toasts.box.Objects); n != 1 {
		t.Errorf("%d messages stay", n)
	}
	for range 20 {
		own.toasts.offerUndo("gone", func() {}, now.Add(10*time.Second))
	}
	if n := len(own.toasts.box.Objects); n != maxUndos+1 || own.toasts.box.Objects[n-1] != own.toasts.message {
		t.Errorf("%d messages stand over each other", n)
	}
	u.messages.offerUndoIn(u.main.conversation.window, "gone", func() {}, now.Add(10*time.Second))
	if len(u.messages.undos) != 1 {
		t.Error("an offer of the main window is not there")
	}
}
