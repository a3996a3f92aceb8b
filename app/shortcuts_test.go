package app

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/sidebar"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func TestEveryShortcutIsOnTheSheet(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	for _, b := range u.main.bindings() {
		if b.name() == widgets.ShortcutName("/", false) {
			b.do()
		}
	}
	if u.nav.title != shortcutsTitle {
		t.Fatalf("the page %q is open", u.nav.title)
	}
	sheet := ""
	for _, l := range u.nav.shortcutLines("") {
		sheet += l.Title + "\t" + l.Detail + "\n"
	}
	taken := map[string]string{}
	for _, b := range u.main.bindings() {
		if other, ok := taken[b.name()]; ok {
			t.Errorf("%s is %q and %q", b.name(), other, b.text)
		}
		taken[b.name()] = b.text
		if !strings.Contains(sheet, b.text+"\t"+b.name()+"\n") {
			t.Errorf("the sheet does not have %q:\n%s", b.text, sheet)
		}
	}
	for _, b := range u.main.conversation.bindings() {
		if !strings.Contains(sheet, "\t"+b.name()+"\n") {
			t.Errorf("the sheet does not have %s", b.name())
		}
	}
	for group, keys := range keysOfViews {
		if len(keys) == 0 || !strings.Contains(sheet, group+"\t\n") {
			t.Errorf("the sheet has no group %q", group)
		}
		for _, k := range keys {
			if !strings.Contains(sheet, k.Text+"\t"+k.Keys+"\n") {
				t.Errorf("the sheet does not have %q (%s)", k.Text, k.Keys)
			}
		}
	}
	for _, a := range u.chats.listActions([]protocol.SessionEntry{{}}, u.main.conversation.window) {
		name := widgets.KeyName(a.Shortcut.(fyne.KeyboardShortcut))
		if !slices.ContainsFunc(sidebar.Keys, func(k widgets.KeyText) bool { return k.Keys == name }) {
			t.Errorf("the keys of the list of chats do not have %s (%s)", name, a.Label)
		}
	}
	if found := u.nav.shortcutLines("find in"); len(found) != 2 || found[1].Title != "Find in this chat" {
		t.Errorf("a search for “find in”: got %+v, want one shortcut", found)
	}
	if found := u.nav.shortcutLines("nothing like it"); len(found) != 0 {
		t.Errorf("a search without a result: got %+v, want nothing", found)
	}
}

func TestListOfChatsRepeatsNoKeyOfTheChats(t *testing.T) {
	u := newTestUI(t)
	n := 0
	for _, l := range u.nav.shortcutLines("pin or unpin") {
		if l.Title == "Pin or unpin" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("got the key %d times, want once", n)
	}
}
