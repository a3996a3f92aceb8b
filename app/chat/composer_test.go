package chat

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/app/conversation"
	"fairlead/app/pagetest"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func TestEnterSendsAndShiftEnterBeginsALine(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
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
		t.Errorf("left: got %q, want an empty Text", e.Text)
	}
	key(e, fyne.KeyReturn)
	d.assert(t) // nothing to send
}

func TestTabLeavesTheComposer(t *testing.T) {
	if newEntry().AcceptsTab() {
		t.Error("somebody with the keyboard alone stays in it")
	}
}

func TestUpAndDownShowSentMessages(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{user("1", "first"), user("2", "second")}})
	e := d.composer.entry
	key(e, fyne.KeyUp)
	key(e, fyne.KeyUp)
	if e.Text != "first" {
		t.Fatalf("got %q, want %q", e.Text, "first")
	}
	key(e, fyne.KeyUp)
	key(e, fyne.KeyDown)
	if e.Text != "second" {
		t.Fatalf("got %q, want %q", e.Text, "second")
	}
	key(e, fyne.KeyDown)
	if e.Text != "" {
		t.Fatalf("got %q, want %q", e.Text, "")
	}
	e.SetText("typed")
	key(e, fyne.KeyUp)
	if e.Text != "typed" {
		t.Error("Up took a typed text away")
	}
}

func TestEscapeAndCtrlPeriodStopARun(t *testing.T) {
	d := newDesk(t, 860, 600)
	s := conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{user("1", "x")}}
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
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
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
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
	d.AddFiles([]string{"/tmp/a.PNG", "/tmp/my notes.txt", "/tmp/b.go", "/tmp/bad.png"})
	pagetest.Shows(t, d.composer.files.strip, "my notes.txt", "b.go", "/tmp")
	if got := d.Draft(); got != "" {
		t.Errorf(`draft: got %q, want ""`, got)
	}
	if !d.composer.files.problem.Visible() || !strings.Contains(d.composer.files.problem.Text, "too large") {
		t.Error("a file that cannot be read should be said")
	}
	d.composer.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: test.NewClipboard()})
	test.Tap(d.button("Send"))
	d.assert(t, `send "\"/tmp/my notes.txt\"\n/tmp/b.go" 2 @`)
	if d.composer.files.strip.Visible() || len(d.composer.files.list) != 0 {
		t.Error("pictures stayed")
	}
}

func TestFilledInTextCanBeContinued(t *testing.T) {
	d := newDesk(t, 480, 600)
	long := strings.Repeat("a draft that goes on ", 12)
	d.SetDraft(long + "\nto")
	d.composer.entry.TypedRune('o')
	d.AddFiles([]string{"/tmp/notes.txt"})
	d.composer.entry.TypedRune('!')
	if got, want := d.Draft(), long+"\ntoo!"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p := New(t.Context(), d.chat.host, nil, NewDrafts(noDrafts{}, nil, nil)) // a pane that was never drawn
	p.SetDraft("kept")
	w := test.NewTempWindow(t, p)
	w.Resize(fyne.NewSize(480, 600))
	p.composer.entry.TypedRune('!')
	if got := p.Draft(); got != "kept!" {
		t.Errorf("got %q, want %q", got, "kept!")
	}
}

func TestManyPicturesLeaveRoomForTheChat(t *testing.T) {
	for _, c := range []struct{ width, height, most float32 }{{520, 560, 300}, {1000, 760, 400}} {
		t.Run(fmt.Sprint(c.width), func(t *testing.T) {
			d := newDesk(t, c.width, c.height)
			d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
			empty := d.composer.box.Size().Height
			d.AddFiles([]string{"/tmp/a.png"})
			one := d.composer.box.Size().Height
			d.AddFiles([]string{"/tmp/b.png", "/tmp/c.png", "/tmp/d.png", "/tmp/e.png", "/tmp/f.png", "/tmp/g.png", "/tmp/h.png", "/tmp/i.png", "/tmp/j.png"})
			many := d.composer.box.Size().Height
			if one <= empty || many <= one || many > c.most {
				t.Errorf("in %vx%v the field has %v, with a picture %v, with ten %v", c.width, c.height, empty, one, many)
			}
			d.SetDraft(strings.Repeat("x\n", 12))
			if top := d.composer.box.Position().Y; top < 48 {
				t.Errorf("in %vx%v it begins at %v, want at least 48", c.width, c.height, top)
			}
			d.SetDraft("")
			d.SetAttachments(nil)
			if now := d.composer.box.Size().Height; now != empty {
				t.Errorf("without pictures it has %v again, and not %v", now, empty)
			}
		})
	}
}

func TestRemovingAPictureKeepsTheFocus(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
	d.AddFiles([]string{"/tmp/a.png"})
	remove := d.button("cross")
	d.win.Canvas().Focus(remove)
	test.Tap(remove)
	if d.win.Canvas().Focused() != fyne.Focusable(d.composer.entry) || len(d.Attachments()) != 0 {
		t.Errorf("%T has the keyboard, and there are %d pictures; want %T and 0", d.win.Canvas().Focused(), len(d.Attachments()), fyne.Focusable(d.composer.entry))
	}
}

func TestOnlyTextIsPastedAsText(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
	clip := test.NewClipboard()
	clip.SetContent("\x89PNG\r\n\x1a\n\xff\xfe and more")
	d.composer.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if d.Draft() != "" || len(d.Attachments()) != 1 {
		t.Errorf("pasted %q and %d pictures; want nothing and 1", d.Draft(), len(d.Attachments()))
	}
}

func TestRefusedAttachmentIsReportedBesideAcceptedOnes(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
	d.AddFiles([]string{"/tmp/bad.png", "/tmp/a.png"})
	if !d.composer.files.problem.Visible() || len(d.composer.files.list) != 1 {
		t.Errorf("said: %t, pictures: %d; want true and 1", d.composer.files.problem.Visible(), len(d.composer.files.list))
	}
	d.AddFiles([]string{"/tmp/b.png"})
	if d.composer.files.problem.Visible() {
		t.Error("the note of the files before stayed")
	}
}

func TestAttachmentShowsItsNameAndSize(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
	data := base64.StdEncoding.EncodeToString(make([]byte, 2_000_000))
	d.SetAttachments([]protocol.Attachment{{Filename: "holiday.png", Data: data}, {Data: data}})
	var texts []string
	var visit func(o fyne.CanvasObject)
	visit = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *widgets.Text:
			texts = append(texts, o.Text)
		case *fyne.Container:
			for _, c := range o.Objects {
				visit(c)
			}
		case fyne.Widget:
			for _, c := range test.WidgetRenderer(o).Objects() {
				visit(c)
			}
		}
	}
	visit(d.composer.files.chips)
	if got := strings.Join(texts, " "); got != "holiday.png 2.0 MB picture 2.0 MB" {
		t.Errorf(`the attachments show %q, want "holiday.png 2.0 MB picture 2.0 MB"`, got)
	}
}

func TestClickAnywhereInTheComposerFocusesIt(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
	d.win.Canvas().Unfocus()
	box := d.composer.box
	test.TapCanvas(d.win.Canvas(), box.Position().AddXY(box.Size().Width/2, box.Size().Height-12))
	if d.win.Canvas().Focused() != fyne.Focusable(d.composer.entry) {
		t.Errorf("%T has the keyboard, want %T", d.win.Canvas().Focused(), fyne.Focusable(d.composer.entry))
	}
}

func TestTokensAreExplainedUnderTheMouse(t *testing.T) {
	d := newDesk(t, 480, 560)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k", ContextTokens: 42_000, ContextWindow: 100_000}})
	d.composer.usage.MouseIn(nil)
	if box := d.composer.hint.box; !box.Visible() || box.Position().X < 0 || box.Position().Y+box.Size().Height > d.composer.box.Position().Y {
		t.Errorf("the explanation is at %v with %v, above %v", box.Position(), box.Size(), d.composer.box.Position())
	}
	d.composer.usage.MouseOut()
	if d.composer.hint.box.Visible() {
		t.Error("the explanation stays")
	}
}
