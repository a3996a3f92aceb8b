package app

import (
	"context"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/host"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func TestAnOverlayIsClosedByKey(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	c := u.main.conversation.Window.Canvas()
	u.hasTray = true
	for name, press := range map[string]func(){
		"Escape": func() { c.OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape}) },
		"Ctrl+W": u.main.closeByKey,
	} {
		t.Run(name, func(t *testing.T) {
			widget.ShowPopUp(widget.NewLabel("a popup"), c)
			if c.Overlays().Top() == nil {
				t.Fatal("no overlay")
			}
			press()
			if c.Overlays().Top() != nil || !u.main.visible {
				t.Errorf("%s: the overlay is open: %v, the window is shown: %v", name, c.Overlays().Top() != nil, u.main.visible)
			}
		})
	}
}

// pressEscape presses Escape; a field passes it to the window.
func pressEscape(u *ui) {
	u.main.conversation.Window.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape})
}

func TestEscapeLeavesPagesWithAWayBack(t *testing.T) {
	for name, open := range map[string]func(u *ui){
		"shortcuts":    func(u *ui) { u.nav.openShortcuts() },
		"search":       func(u *ui) { u.nav.search("") },
		"conversation": func(u *ui) { u.nav.openArchives(protocol.MainSession) },
	} {
		t.Run(name, func(t *testing.T) {
			u := newTestUI(t)
			u.update(sample())
			open(u)
			if u.nav.title == "" {
				t.Fatal("no page is open")
			}
			if pressEscape(u); u.nav.title != "" {
				t.Errorf("Escape leaves the page %q open", u.nav.title)
			}
			if name == "conversation" {
				return
			}
			u.nav.openTitled(transfersTitle)
			open(u)
			widgettest.Find(u.nav.box, func(b *widgets.Button) bool { return b.Text == "Back" }).OnTap()
			if u.nav.title != transfersTitle {
				t.Errorf("Back shows %q, want the page before", u.nav.title)
			}
		})
	}
}

func TestEscapeClosesAPopupBeforeItLeavesTheForm(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	left := false
	u.nav.open(page{"edit", "Form", func(context.Context, host.Target) (fyne.CanvasObject, func() bool) {
		return widgets.NewEntry(), func() bool { left = true; return true }
	}})
	c := u.main.conversation.Window.Canvas()
	widget.ShowPopUp(widget.NewLabel("a popup"), c)
	if pressEscape(u); c.Overlays().Top() != nil || left {
		t.Errorf("First Escape: the popup is open: %v, the form was left: %v", c.Overlays().Top() != nil, left)
	}
	if pressEscape(u); !left {
		t.Error("the second Escape does not leave the form")
	}
}

func TestNewChatShowsTheListOfChats(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Sessions.List[1].MessageCount = 0
	u.update(v)
	u.main.sidebar.Search.SetText("nothing like it")
	u.chats.Create()
	if got := u.main.sidebar.Search.Text; got != "" {
		t.Errorf("Search field after New chat: got %q, want nothing", got)
	}
}

func TestEscapeClosesTheDrawerOverAFieldThatHadTheKeyboard(t *testing.T) {
	u := newTestUI(t)
	u.main.conversation.Window.Resize(fyne.NewSize(520, 600))
	u.main.conversation.FocusComposer()
	u.main.toggleDrawer()
	if f := u.main.conversation.Window.Canvas().Focused(); f != fyne.Focusable(u.main.sidebar.Search) {
		t.Errorf("%T under the drawer has the keyboard", f)
	}
	u.main.sidebar.Search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if u.main.drawer.Visible() || u.main.conversation.Window.Canvas().Focused() != fyne.Focusable(u.main.conversation.Page.Pane.Composer()) {
		t.Errorf("the drawer is open: %v, the keyboard is with %T", u.main.drawer.Visible(), u.main.conversation.Window.Canvas().Focused())
	}
}

func TestEscapeOnAPageNeverTypesIntoTheChatBehindIt(t *testing.T) {
	u := newTestUI(t)
	left := 0
	u.nav.open(page{"file", "A page", func(context.Context, host.Target) (fyne.CanvasObject, func() bool) {
		return widget.NewLabel("one thing"), func() bool { left++; return left == 1 }
	}})
	for range 2 {
		u.main.conversation.Window.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape})
		if u.main.conversation.Window.Canvas().Focused() == fyne.Focusable(u.main.conversation.Page.Pane.Composer()) {
			t.Error("the composer has the keyboard, and nobody sees it")
		}
	}
	if left != 2 {
		t.Errorf("the page was asked %d times", left)
	}
}
