package app

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func TestEveryShortcutIsOnTheSheet(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	for _, b := range mainKeys(u.main, u.env(nil), u.Quit) {
		if b.Name() == widgets.ShortcutName("/", false) {
			b.Do()
		}
	}
	if u.main.Pages.Title() != shortcuts.Title {
		t.Fatalf("the page %q is open, want %q", u.main.Pages.Title(), shortcuts.Title)
	}
	sheet := ""
	for _, l := range shortcuts.New(nil, keyGroups(), mainKeys(u.main, u.env(nil), u.Quit)).Lines("") {
		sheet += l.Title + "\t" + l.Detail + "\n"
	}
	taken := map[string]string{}
	for _, b := range mainKeys(u.main, u.env(nil), u.Quit) {
		if other, ok := taken[b.Name()]; ok {
			t.Errorf("%s is %q and %q", b.Name(), other, b.Text)
		}
		taken[b.Name()] = b.Text
		if !strings.Contains(sheet, b.Text+"\t"+b.Name()+"\n") {
			t.Errorf("the sheet does not have %q:\n%s", b.Text, sheet)
		}
	}
	for _, b := range u.main.Chats.OwnKeys(u.main.Chat) {
		if !strings.Contains(sheet, "\t"+b.Name()+"\n") {
			t.Errorf("the sheet does not have %s", b.Name())
		}
	}
	for _, g := range keyGroups() {
		if !strings.Contains(sheet, g.Name+"\t\n") {
			t.Errorf("the sheet has no group %q", g.Name)
		}
		for _, k := range g.Keys {
			if !strings.Contains(sheet, k.Text+"\t"+k.Keys+"\n") {
				t.Errorf("the sheet does not have %q (%s)", k.Text, k.Keys)
			}
		}
	}
	for _, a := range u.main.Chats.Actions.Menu([]protocol.SessionEntry{{}, {}}) {
		if a.Shortcut == nil {
			continue
		}
		name := widgets.KeyName(a.Shortcut.(fyne.KeyboardShortcut))
		if !slices.ContainsFunc(sidebar.Keys, func(k widgets.KeyText) bool { return k.Keys == name }) {
			t.Errorf("the keys of the list of chats do not have %s (%s)", name, a.Label)
		}
	}
}

func TestListOfChatsRepeatsNoKeyOfTheChats(t *testing.T) {
	u := newTestUI(t)
	n := 0
	for _, l := range shortcuts.New(nil, keyGroups(), mainKeys(u.main, u.env(nil), u.Quit)).Lines("pin or unpin") {
		if l.Title == "Pin or unpin" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("got the key %d times, want once", n)
	}
}
