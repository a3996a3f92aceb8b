package app

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"fairlead/app/chatwindow"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func TestDetachedWindowsRestoreTheirSize(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Chats.OpenWindow("agent:main:2")
	c := u.main.Chats.Own["agent:main:2"]
	c.Window.Resize(fyne.NewSize(620, 480))
	c.Window.Close()
	u.main.Chats.OpenWindow("agent:main:2")
	c = u.main.Chats.Own["agent:main:2"]
	if got := c.Window.Canvas().Size(); got != fyne.NewSize(620, 480) {
		t.Errorf("it opens with %v, want %v", got, fyne.NewSize(620, 480))
	}
	c.Window.Resize(fyne.NewSize(700, 500))
	u.Save()
	if r := u.backend.Prefs.Get(); r.ChatWidth != 700 {
		t.Errorf("remembered: got %+v, want ChatWidth 700", r)
	}
}

func TestWindowOfAnotherComputerHasABarInItsColor(t *testing.T) {
	u := newTestUI(t)
	if u.main.Chat.Bar != nil {
		t.Error("the window of this computer has a bar")
	}
	u = newRemoteUI(t)
	u.main.Chats.OpenWindow("alone")
	t.Cleanup(u.main.Chats.Own["alone"].Window.Close)
	v := sample()
	v.Machines = append(v.Machines, protocol.NodeInfo{ID: "nas-own", Local: true, Colour: style.Choices[3]})
	for i := range v.Machines[:len(v.Machines)-1] {
		v.Machines[i].Local = false
	}
	u.update(v)
	if want := style.ChoiceColor(style.Choices[3]); u.main.Chat.Bar.Fill != want {
		t.Errorf("the bar has the colour %s, want %s", u.main.Chat.Bar.Fill, want)
	} else if got := u.main.Chats.Own["alone"].Bar; got == nil || got.Fill != want {
		t.Errorf("the window of a chat: got the bar %v, want the colour %s", got, want)
	}
	v.Questions.Pending = []protocol.Question{pairRequest("r", "tower")}
	u.update(v)
	u.env(nil).Open(host.Output{Title: "make", Text: "done"})
	u.env(nil).Open(host.Picture{Resource: theme.ErrorIcon()})
	others := 0
	for _, w := range u.app.Driver().AllWindows() {
		if w == u.main.Chat.Window || u.main.Chats.At(w) != u.main.Chat || w.Title() == "" { // the test app's own
			continue
		}
		others++
		if !hasBar(w, style.ChoiceColor(style.Choices[3])) {
			t.Errorf("the window %q has no bar in the colour of the computer", w.Title())
		}
	}
	if others != 3 {
		t.Errorf("windows of a question, an output and a picture: got %d, want 3", others)
	}
}

// hasBar reports whether a bar of a colour is at the top of a window.
func hasBar(w fyne.Window, color fyne.ThemeColorName) bool {
	for _, o := range test.LaidOutObjects(w.Content()) {
		if r, ok := o.(*widgets.Rect); ok && r.Fill == color && r.Size() == fyne.NewSize(w.Canvas().Size().Width, chatwindow.BarHeight) {
			return true
		}
	}
	return false
}
