package conversation

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/gateway/protocol"
)

func TestFindGoesFromMessageToMessage(t *testing.T) {
	p := newDesk(t, 700, 500)
	s := State{Session: protocol.SessionEntry{SessionKey: "k"}}
	for i := range 100 {
		text := "nothing here"
		if i%30 == 0 {
			text = fmt.Sprintf("The Needle %d", i)
		}
		s.Messages = append(s.Messages, user(fmt.Sprint(i), text))
	}
	p.Update(s)
	p.Find()
	f := p.finder
	if fyne.CurrentApp().Driver().CanvasForObject(p.Content).Focused() != fyne.Focusable(f.field) {
		t.Fatal("the field should have the keyboard")
	}
	test.Type(f.field, "needle")
	if f.count.Text != "4 of 4" {
		t.Fatalf(`it says %q, want "4 of 4"`, f.count.Text)
	}
	seen := func(id string) {
		t.Helper()
		if y, ok := p.position("m/" + id); !ok || y < 0 {
			t.Errorf("message %s is not in view: %v %v", id, y, ok)
		}
	}
	seen("90")
	f.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	seen("60")
	f.field.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	f.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	f.field.KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	seen("30")
	if f.count.Text != "2 of 4" {
		t.Errorf(`it says %q, want "2 of 4"`, f.count.Text)
	}
	s.Messages = append(s.Messages, user("100", "one more needle"))
	p.Update(s)
	if f.count.Text != "2 of 5" {
		t.Errorf(`with one more it says %q, want "2 of 5"`, f.count.Text)
	}
	long := strings.Repeat("filler line\n", 200)
	s.Messages = append(s.Messages, user("101", long+"a thimble\n"+long))
	p.Update(s)
	f.field.SetText("thimble")
	for _, it := range p.transcript.Items() {
		d, _ := it.Data.(messageData)
		before, _, holds := strings.Cut(d.text, "thimble")
		if !holds {
			continue
		}
		y, ok := p.position(it.Key)
		if line := y + 20*float32(strings.Count(before, "\n")); !ok || line < 0 || line > 400 {
			t.Errorf("the line in the long message is at %g, %v; want at least 0 and true", line, ok)
		}
	}
	if f.count.Text != "1 of 1" {
		t.Errorf(`it says %q, want "1 of 1"`, f.count.Text)
	}
	f.field.SetText("absent")
	if f.count.Text != "Not found" {
		t.Errorf(`it says %q, want "Not found"`, f.count.Text)
	}
	test.Tap(p.button("All chats"))
	p.assert(t, "search absent")
	if f.box.Visible() {
		t.Error("the search bar stayed")
	}
}

func TestFindEndsWithEscape(t *testing.T) {
	p := newDesk(t, 700, 500)
	p.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{user("1", "a needle")}})
	left := false
	p.OnLeave = func() { left = true }
	p.Find()
	test.Type(p.finder.field, "needle")
	p.finder.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if p.finder.box.Visible() {
		t.Error("Escape should end it")
	}
	if !left {
		t.Error("the keyboard should be with the composer")
	}
}
