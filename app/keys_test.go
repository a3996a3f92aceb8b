package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/shortcuts"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// pressEscape presses Escape; a field passes it to the window.
func pressEscape(u *ui) {
	u.main.Chat.Window.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape})
}

func TestEscapeLeavesPagesWithAWayBack(t *testing.T) {
	for name, open := range map[string]func(u *ui){
		"shortcuts":    func(u *ui) { u.env(nil).Open(host.Page(shortcuts.Title)) },
		"search":       func(u *ui) { u.env(nil).Open(host.Search("")) },
		"conversation": func(u *ui) { u.env(nil).Open(host.Archive{Key: protocol.MainSession}) },
	} {
		t.Run(name, func(t *testing.T) {
			u := newTestUI(t)
			u.update(sample())
			open(u)
			if u.main.Pages.Title() == "" {
				t.Fatal("no page is open")
			}
			if pressEscape(u); u.main.Pages.Title() != "" {
				t.Errorf("Escape leaves the page %q open, want nothing", u.main.Pages.Title())
			}
			if name == "conversation" {
				return
			}
			u.places.nav.open(transfersTitle, nil)
			open(u)
			widgettest.Find(u.main.Pages.Page().Content(), func(b *widgets.Button) bool { return b.Text == "Back" }).OnTap()
			if u.main.Pages.Title() != transfersTitle {
				t.Errorf("Back shows %q, want the page before", u.main.Pages.Title())
			}
		})
	}
}

func TestNewChatShowsTheListOfChats(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Sessions.List[1].MessageCount = 0
	u.update(v)
	u.main.Sidebar.Search.SetText("nothing like it")
	u.main.Chats.Actions.Create()
	if got := u.main.Sidebar.Search.Text; got != "" {
		t.Errorf("Search field after New chat: got %q, want nothing", got)
	}
}
