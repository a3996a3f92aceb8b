package chat

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/gateway/protocol"
)

func TestEnterSendsAndShiftEnterBeginsALine(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}})
	e := d.composer.entry
	d.FocusComposer()
	test.Type(e, "one")
	e.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	key(e, fyne.KeyReturn)
	e.KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	test.Type(e, "two")
	key(e, fyne.KeyReturn)
	d.assert(t, `send "one\ntwo" 0 @`)
	if e.Text != "" {
		t.Errorf("left %q", e.Text)
	}
	key(e, fyne.KeyReturn)
	d.assert(t) // nothing to send
}

func TestUpAndDownGoThroughWhatWasSent(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{user("1", "first"), user("2", "second")}})
	e := d.composer.entry
	key(e, fyne.KeyUp)
	key(e, fyne.KeyUp)
	if e.Text != "first" {
		t.Fatalf("%q", e.Text)
	}
	key(e, fyne.KeyUp)
	key(e, fyne.KeyDown)
	if e.Text != "second" {
		t.Fatalf("%q", e.Text)
	}
	key(e, fyne.KeyDown)
	if e.Text != "" {
		t.Fatalf("%q", e.Text)
	}
	e.SetText("typed")
	key(e, fyne.KeyUp)
	if e.Text != "typed" {
		t.Error("Up took a typed text away")
	}
}

func TestEscapeAndCtrlPeriodStopARun(t *testing.T) {
	d := newDesk(t, 860, 600)
	s := State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{user("1", "x")}}
	d.Update(s)
	key(d.composer.entry, fyne.KeyEscape)
	d.assert(t)
	s.Runs = []protocol.RunInfo{{RunID: "r", State: protocol.RunThinking}}
	d.Update(s)
	key(d.composer.entry, fyne.KeyEscape)
	d.composer.entry.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyPeriod, Modifier: fyne.KeyModifierShortcutDefault})
	test.Tap(d.button("Stop"))
	d.assert(t, "stop", "stop", "stop")
}

func TestComposerGrowsToEightLines(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}})
	heights := map[float32]bool{}
	for n := range 12 {
		d.SetDraft(strings.Repeat("x\n", n))
		heights[d.composer.box.Size().Height] = true
	}
	if len(heights) != maxLines {
		t.Errorf("%d heights, want %d", len(heights), maxLines)
	}
	d.SetDraft("")
	one := d.composer.box.Size().Height
	d.SetDraft(strings.Repeat("many words in one line ", 20))
	if d.composer.box.Size().Height <= one {
		t.Error("a wrapped line should make room, too")
	}
}

func TestDroppedFilesGoAsPicturesOrPaths(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}})
	d.AddFiles([]string{"/tmp/a.PNG", "/tmp/my notes.txt", "/tmp/b.go", "/tmp/bad.png"})
	if got := d.Draft(); got != `"/tmp/my notes.txt" /tmp/b.go ` {
		t.Errorf("draft %q", got)
	}
	if !d.composer.note.Visible() || !strings.Contains(d.composer.note.Text, "too large") {
		t.Error("a file that cannot be read should be said")
	}
	d.composer.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: test.NewClipboard()})
	test.Tap(d.button("Send"))
	d.assert(t, `send "\"/tmp/my notes.txt\" /tmp/b.go" 2 @`)
	if d.composer.thumbs.Visible() || len(d.composer.images) != 0 {
		t.Error("pictures stayed")
	}
}
