package chat

import (
	"context"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/conversation"
	"fairlead/gateway/protocol"
)

// newCompletingPane is a pane that offers three machines for words that begin with "@".
func newCompletingPane(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, 860, 600)
	d.composer.entry.completion.complete = func(_ Model, _ context.Context, before string, _ protocol.NodeID) Completions {
		at := strings.LastIndex(before, "@")
		found := Completions{Start: at}
		for _, name := range []string{"server", "studio", "src/"} {
			if at >= 0 && strings.HasPrefix(name, before[at+1:]) {
				found.List = append(found.List, Completion{Icon: "machine", Label: name, Detail: "Machine", Insert: "@" + name})
			}
		}
		if before == "/new" {
			found = Completions{List: []Completion{{Icon: "reset", Label: "/new", Insert: "/new"}}}
		}
		return found
	}
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
	d.FocusComposer()
	return d
}

func TestCompletionFiltersAndIsChosenByKeys(t *testing.T) {
	d := newCompletingPane(t)
	e := d.composer.entry
	test.Type(e, "ask @s")
	if n := len(e.completion.found.List); !e.AcceptsTab() || n != 3 {
		t.Fatalf("%d completions, open %v; want 3 and true", n, e.AcceptsTab())
	}
	if box := e.completion.box; box.Position().Y+box.Size().Height > d.composer.box.Position().Y {
		t.Error("the list covers the composer")
	}
	key(e, fyne.KeyDown)
	key(e, fyne.KeyDown)
	key(e, fyne.KeyUp)
	key(e, fyne.KeyTab)
	if e.Text != "ask @studio" || e.AcceptsTab() {
		t.Errorf(`Tab: %q, open %v; want "ask @studio" and false`, e.Text, e.AcceptsTab())
	}
	e.SetText("")
	test.Type(e, "@ser")
	key(e, fyne.KeyReturn)
	if e.Text != "@server" {
		t.Errorf(`Enter: got %q, want "@server"`, e.Text)
	}
	d.assert(t) // nothing was sent
	test.Type(e, " @st")
	key(e, fyne.KeyEscape)
	if e.AcceptsTab() || e.Text != "@server @st" {
		t.Errorf(`Escape: %q, open %v; want "@server @st" and false`, e.Text, e.AcceptsTab())
	}
	test.Type(e, "x")
	if e.AcceptsTab() {
		t.Error("a list without a match is open")
	}
}

func TestCompletionInTheMiddleReplacesOnlyItsWord(t *testing.T) {
	d := newCompletingPane(t)
	e := d.composer.entry
	test.Type(e, "on and on")
	for range len(" and on") {
		key(e, fyne.KeyLeft)
	}
	test.Type(e, " @stu")
	key(e, fyne.KeyReturn)
	if e.Text != "on @studio and on" {
		t.Errorf("got %q, want %q", e.Text, "on @studio and on")
	}
	key(e, fyne.KeyBackspace)
	if !e.AcceptsTab() {
		t.Error("deleting does not offer the word again")
	}
	key(e, fyne.KeyLeft)
	if e.AcceptsTab() {
		t.Error("the list stays when the cursor leaves its place")
	}
}

func TestCompletionIsChosenByMouseAndFolderContinues(t *testing.T) {
	d := newCompletingPane(t)
	e := d.composer.entry
	test.Type(e, "@s")
	row := e.completion.rows.Objects[2].(*completionRow)
	row.MouseIn(nil)
	d.win.Canvas().Unfocus() // as a press does
	test.Tap(row)
	if e.Text != "@src/" || d.win.Canvas().Focused() != fyne.Focusable(e) || !e.AcceptsTab() {
		t.Errorf(`%q, open %v; want e.Text "@src/", d.win.Canvas.Focused %v and e.AcceptsTab`, e.Text, e.AcceptsTab(), fyne.Focusable(e))
	}
	d.win.Canvas().Unfocus()
	e.completion.tick(time.Now().Add(2 * closeAfter))
	if e.AcceptsTab() {
		t.Error("the list stays after the composer has lost the keyboard")
	}
}

func TestCompleteCommandIsSentByEnter(t *testing.T) {
	d := newCompletingPane(t)
	e := d.composer.entry
	test.Type(e, "/new")
	if !e.AcceptsTab() {
		t.Fatal("no completion")
	}
	key(e, fyne.KeyReturn)
	d.assert(t, `send "/new" 0 @`)
	d.composer.startEdit(user("1", "x"))
	test.Type(e, "/new")
	if e.AcceptsTab() {
		t.Error("a command is offered in place of a message")
	}
	key(e, fyne.KeyEscape)
	test.Type(e, "/export")
	key(e, fyne.KeyReturn)
	if len(d.host.Did) != 1 || !strings.HasPrefix(d.host.Did[0], "savefile") || e.Text != "" {
		t.Errorf("did %q, left %q", d.host.Did, e.Text)
	}
}
