package app

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func TestDetachedWindowsRestoreTheirSize(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.chats.OpenWindow("agent:main:2")
	c := u.chats.Own["agent:main:2"]
	c.Window.Resize(fyne.NewSize(620, 480))
	c.Window.Close()
	u.chats.OpenWindow("agent:main:2")
	c = u.chats.Own["agent:main:2"]
	if got := c.Window.Canvas().Size(); got != fyne.NewSize(620, 480) {
		t.Errorf("it opens with %v", got)
	}
	c.Window.Resize(fyne.NewSize(700, 500))
	u.save()
	if r := u.backend.Prefs.Get(); r.ChatWidth != 700 {
		t.Errorf("remembered: got %+v, want ChatWidth 700", r)
	}
}

func TestWindowOfAnotherComputerHasABarInItsColor(t *testing.T) {
	u := newTestUI(t)
	if u.main.content(); u.main.bar != nil {
		t.Error("the window of this computer has a bar")
	}
	u = newRemoteUI(t)
	u.main.content()
	u.chats.OpenWindow("alone")
	t.Cleanup(u.chats.Own["alone"].Window.Close)
	v := sample()
	v.Machines = append(v.Machines, protocol.NodeInfo{ID: "nas-own", Local: true, Colour: style.Choices[3]})
	for i := range v.Machines[:len(v.Machines)-1] {
		v.Machines[i].Local = false
	}
	u.update(v)
	if want := style.ChoiceColor(style.Choices[3]); u.main.bar.Fill != want {
		t.Errorf("the bar has the colour %s, want %s", u.main.bar.Fill, want)
	} else if got := u.chats.Own["alone"].Bar; got == nil || got.Fill != want {
		t.Errorf("the window of a chat: got the bar %v, want the colour %s", got, want)
	}
	v.Questions.Pending = []protocol.Question{pairRequest("r", "tower")}
	u.update(v)
	pageHost{u, nil}.Open(host.Output{Title: "make", Text: "done"})
	pageHost{u, nil}.Open(host.Picture{Resource: theme.ErrorIcon()})
	others := 0
	for _, w := range u.app.Driver().AllWindows() {
		if w == u.main.conversation.Window || u.chats.At(w) != u.main.conversation || w.Title() == "" { // the test app's own
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
		if r, ok := o.(*widgets.Rect); ok && r.Fill == color && r.Size() == fyne.NewSize(w.Canvas().Size().Width, barHeight) {
			return true
		}
	}
	return false
}
