package tray

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

func TestEntriesStayWhileOnlyTheirTextsChange(t *testing.T) {
	test.NewTempApp(t)
	clicked := ""
	menuOf := func(status, chat string, isPaused bool) []*fyne.MenuItem {
		first := fyne.NewMenuItem(status, nil)
		first.Disabled = status == "Ready"
		list := fyne.NewMenuItem("Recent chats", nil)
		list.ChildMenu = fyne.NewMenu("", fyne.NewMenuItem(chat, func() { clicked = chat }))
		pause := fyne.NewMenuItem("Pause agent", nil)
		pause.Checked = isPaused
		return []*fyne.MenuItem{first, fyne.NewMenuItemSeparator(), list, pause}
	}
	m := &menu{ctx: t.Context()}
	m.set(menuOf("Ready", "one", false))
	status, chat := m.entries[0], m.entries[2].under[0]
	if !status.item.Disabled() {
		t.Error("the status: got an entry that can be chosen, want a disabled one")
	}

	m.set(menuOf("Working", "two", false))
	if m.entries[0] != status || m.entries[2].under[0] != chat {
		t.Error("after other texts: got new entries, want the same ones")
	}
	if got := status.item.String(); status.item.Disabled() || !strings.Contains(got, `"Working"`) {
		t.Errorf("the status after a change: got %s, disabled: %v, want Working, which can be chosen", got, status.item.Disabled())
	}
	if chat.shown.Action(); clicked != "two" {
		t.Errorf("a click on the chat: got %q, want two", clicked)
	}

	m.set(menuOf("Working", "two", true))
	if m.entries[0] == status {
		t.Error("after a check mark: got the same entries, want new ones, because some panels cannot add a mark")
	}
}
