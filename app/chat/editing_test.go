package chat

import (
	"fmt"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// talk is a chat with a question, an answer, and a command of the person.
func talk() conversation.State {
	command := user("c", "!ls")
	command.Origin = protocol.OriginDirect
	picture := user("q", "what is this")
	picture.Content = append(picture.Content, protocol.Block{Type: protocol.BlockImage, MediaKey: "media/a.png", Filename: "a.png"})
	return conversation.State{
		Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{picture, assistant("a", "r", protocol.Text("A cat.")), command},
		Models: []feed.ModelChoice{{Ref: protocol.ModelRef{Provider: "p", ID: "big"}, Name: "Big"}},
	}
}

func labels(items []conversation.Action) (list []string) {
	for _, i := range items {
		list = append(list, i.Text)
	}
	return list
}

func TestEachMessageOffersItsOwnActions(t *testing.T) {
	d := newDesk(t, 860, 700)
	d.Update(talk())
	actions := func(id protocol.MessageID) []conversation.Action {
		return d.actionsOf(id)
	}
	for id, want := range map[protocol.MessageID][]string{
		"q": {"Edit and resend", "Fork from here", "Delete message"},
		"a": {"Regenerate", "Regenerate with", "Fork from here", "Delete answer"},
		"c": {"Delete command"},
	} {
		if got := labels(actions(id)); len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("message %q offers %q, want %q", id, got, want)
		}
	}
	a := actions("a")
	a[0].Do()
	a[1].Choices[0].Action()
	a[2].Do()
	a[3].Do()
	d.assert(t, `resend a "as it was" -1 by the chat's`, "undo Replaced.", `resend a "as it was" -1 by big`, "undo Replaced.", "fork a before false", "fork {forked k}", "delete a", "undo The answer was deleted.")
	q := actions("q")
	q[1].Do()
	q[2].Do()
	actions("c")[0].Do()
	d.assert(t, "fork q before true", "fork {forked k}", "delete q", "undo The message was deleted.", "delete c", "undo The command was deleted.")
}

func TestButtonsAreShownForOneMessageAtATime(t *testing.T) {
	d := newDesk(t, 860, 700)
	d.Update(talk())
	views := d.messages()
	views[0].MouseIn(nil)
	if d.button("Edit") == nil || d.button("Regenerate") != nil {
		t.Error("the question does not show its own buttons alone")
	}
	views[1].OnHover() // the mouse is over its text
	if d.button("Edit") != nil || d.button("Regenerate") == nil {
		t.Error("the answer does not show its own buttons alone")
	}
	test.Tap(d.button("Regenerate"))
	d.assert(t, `resend a "as it was" -1 by the chat's`, "undo Replaced.")

	// A row that shows another message has no buttons until the mouse is over it again.
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "other"}, Messages: []protocol.Message{user("z", "another")}})
	if d.button("Regenerate") != nil || d.button("Edit") != nil {
		t.Error("another chat shows buttons")
	}
	for _, m := range d.messages() {
		m.MouseIn(nil)
	}
	if d.button("Edit") == nil {
		t.Error("the message of another chat has no buttons")
	}
}

func TestButtonsOfAMessageFitTheNarrowestWindow(t *testing.T) {
	for _, scale := range []float32{1, 1.5} {
		t.Run(fmt.Sprint(scale), func(t *testing.T) {
			d := newDesk(t, 480, 560)
			fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, scale))
			d.Update(talk())
			for _, m := range d.messages() {
				m.MouseIn(nil)
				if w := m.MinSize().Width; w > d.rows().Width {
					t.Errorf("a message wants %v, and has %v", w, d.rows().Width)
				}
			}
		})
	}
}

func TestEditedMessageIsReplacedAndTheDraftStays(t *testing.T) {
	d := newDesk(t, 860, 700)
	d.Update(talk())
	d.SetDraft("half a thought")
	d.actionsOf("q")[0].Do()
	e := d.composer.entry
	if e.Text != "what is this" || len(d.composer.files.list) != 1 || !d.composer.editNote.Visible() {
		t.Fatalf(`the field has %q and %d pictures; want "what is this" and 1`, e.Text, len(d.composer.files.list))
	}
	if d.Draft() != "half a thought" || len(d.Attachments()) != 0 {
		t.Errorf(`the draft is %q with %d pictures; want "half a thought" and 0`, d.Draft(), len(d.Attachments()))
	}
	e.SetText("what is that")
	key(e, fyne.KeyReturn)
	d.assert(t, `resend q "what is that" 1 by the chat's`, "undo Replaced.")
	if e.Text != "half a thought" || d.composer.editNote.Visible() {
		t.Errorf(`afterwards the field has %q; want "half a thought"`, e.Text)
	}
	d.actionsOf("q")[0].Do()
	key(e, fyne.KeyEscape)
	if e.Text != "half a thought" || d.composer.edited != "" {
		t.Errorf(`after Escape the field has %q; want "half a thought"`, e.Text)
	}
	key(e, fyne.KeyReturn)
	d.assert(t, `send "half a thought" 0 @`)
}

func TestUpEditsTheLastMessageAndRecallsACommand(t *testing.T) {
	d := newDesk(t, 860, 700)
	d.Update(talk())
	e := d.composer.entry
	key(e, fyne.KeyUp)
	if e.Text != "!ls" || d.composer.edited != "" {
		t.Fatalf(`%q edits %q; want e.Text "!ls" and an empty d.composer.edited`, e.Text, d.composer.edited)
	}
	key(e, fyne.KeyUp)
	if e.Text != "what is this" || d.composer.edited != "q" {
		t.Fatalf(`%q edits %q; want e.Text "what is this" and d.composer.edited "q"`, e.Text, d.composer.edited)
	}
	key(e, fyne.KeyDown)
	if e.Text != "!ls" || d.composer.edited != "" {
		t.Fatalf(`%q edits %q; want e.Text "!ls" and an empty d.composer.edited`, e.Text, d.composer.edited)
	}
	key(e, fyne.KeyDown)
	if e.Text != "" || d.Draft() != "" {
		t.Errorf("the field has %q; want nothing", e.Text)
	}
	key(e, fyne.KeyUp)
	key(e, fyne.KeyReturn)
	d.assert(t, `send "!ls" 0 @`)
	other := talk()
	other.Session.SessionKey = "other"
	key(e, fyne.KeyUp)
	key(e, fyne.KeyUp)
	d.Update(other)
	if e.Text != "" || d.composer.edited != "" || d.composer.editNote.Visible() {
		t.Error("another chat continues the edit")
	}
}
