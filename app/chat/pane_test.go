package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/conversation"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func TestProblemsOfferAFix(t *testing.T) {
	d := newDesk(t, 860, 700)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunFailed, Error: protocol.ErrModelAuth}}})
	test.Tap(d.button("Open settings"))
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Runs: []protocol.RunInfo{{RunID: "r", Message: "x", State: protocol.RunFailed, Error: protocol.ErrModel}}})
	test.Tap(d.button("Try again"))
	d.assert(t, "page Models", `send "x" 0 @`)
}

func TestWithdrawnMessageCanBeEdited(t *testing.T) {
	d := newDesk(t, 860, 700)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Runs: []protocol.RunInfo{{RunID: "n", State: protocol.RunQueued, Message: "and\nthen"}}})
	d.SetDraft("typed")
	test.Tap(d.button("Take back"))
	d.assert(t, "stop n")
	if d.Draft() != "and\nthen\ntyped" {
		t.Errorf(`draft: got %q, want "and\nthen\ntyped"`, d.Draft())
	}
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Runs: []protocol.RunInfo{{RunID: "o", State: protocol.RunQueued}}})
	if !strings.Contains(test.RenderObjectToMarkup(d.Pane), "Pictures") {
		t.Error("a message of pictures alone waits without a word")
	}
}

func TestFixElsewhereRetriesHere(t *testing.T) {
	spent := protocol.ErrModelRateLimit.With("the quota is used up")
	spent.Retryable = false
	for want, err := range map[string]*protocol.Error{"Open settings": protocol.ErrModelAuth, "Start over": protocol.ErrContextOverflow, "Change the budget": protocol.ErrBudget, "Open settings ": spent} {
		t.Run(want, func(t *testing.T) {
			d := newDesk(t, 860, 700)
			d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Runs: []protocol.RunInfo{{RunID: "r", Message: "x", State: protocol.RunFailed, Error: err}}})
			if d.button(strings.TrimSpace(want)) == nil {
				t.Errorf("%v: no button %s", err, want)
			}
			if again := d.button("Try again"); again == nil {
				t.Errorf("%v cannot be tried again", err)
			} else {
				test.Tap(again)
				d.assert(t, `send "x" 0 @`)
			}
		})
	}
}

func TestTryAgainKeepsResultsOfTheRun(t *testing.T) {
	said := protocol.Content{protocol.Text("what is this"), {Type: protocol.BlockImage, MediaKey: "media/a.png", Filename: "a.png"}}
	m := protocol.Message{ID: "1", RunID: "r", Role: protocol.RoleUser, Content: said}
	call := assistant("2", "r", toolCall("a", "server__Bash", `{"command":"make"}`))
	for name, c := range map[string]struct {
		messages []protocol.Message
		want     string
	}{
		"nothing yet": {[]protocol.Message{user("0", "before"), m}, `resend 1 "as it was" -1 by the chat's; undo Replaced.`},
		"a call":      {[]protocol.Message{user("0", "before"), m, call, result("3", "a", "ok", nil)}, `send "what is this" 1 @`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 860, 700)
			d.Update(conversation.State{
				Session: protocol.SessionEntry{SessionKey: "k"}, Messages: c.messages,
				Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunFailed, Error: protocol.ErrModel}},
			})
			test.Tap(d.button("Try again"))
			d.assert(t, c.want)
		})
	}
}

func TestRenameInPlace(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k", Title: "Old"}})
	d.Rename()
	d.header.name.SetText("New name")
	d.header.name.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	d.assert(t, `rename "New name"`)
	d.Rename()
	d.header.name.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	d.assert(t)
	if d.header.name.Visible() {
		t.Error("the field stayed")
	}
}

func TestAnotherChatForgetsDraft(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "a"}, Messages: []protocol.Message{user("1", "x")}})
	d.SetDraft("half a thought")
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "b"}, Messages: []protocol.Message{user("1", "y")}})
	if n := len(d.messages()); d.Draft() != "" || n != 1 {
		t.Errorf("got the draft %q and %d messages, want none and 1", d.Draft(), n)
	}
}

func TestNarrowPaneFitsItsWindow(t *testing.T) {
	d := newDesk(t, 480, 560)
	d.Update(conversation.State{
		Session: protocol.SessionEntry{SessionKey: "k", Title: strings.Repeat("A long title ", 20)}, Model: protocol.ModelRef{ID: strings.Repeat("model-", 20)},
		Nodes: []protocol.NodeInfo{{ID: "a-machine-with-a-very-long-name", Online: true}}, Messages: []protocol.Message{user("1", strings.Repeat("word ", 200))},
	})
	if w := d.header.box.MinSize().Width; w > 480 {
		t.Errorf("the header wants %v", w)
	}
	if w := d.composer.box.MinSize().Width; w > 456 {
		t.Errorf("the composer wants %v", w)
	}
}

// BenchmarkPaneDelta20000 adds a streamed piece to a chat of 20,000 messages, from state to screen.
func BenchmarkPaneDelta20000(b *testing.B) {
	d := newDesk(b, 860, 760)
	s := conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}}
	for i := range 10_000 {
		s.Messages = append(s.Messages, user(fmt.Sprint("u", i), "Why does the build fail?"), assistant(fmt.Sprint("a", i), protocol.RunID(fmt.Sprint("r", i)), protocol.Text(strings.Repeat("Because of a semicolon. ", 30))))
	}
	s.Messages = append(s.Messages, user("last", "And now?"))
	d.Update(s)
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		s.Runs = []protocol.RunInfo{{RunID: "now", State: protocol.RunStreaming, Step: 1, Text: strings.Repeat("word ", i%500+1)}}
		d.Update(s)
	}
}

func TestOfflineMachineOfAChatIsNamed(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(conversation.State{Nodes: []protocol.NodeInfo{{ID: "server"}}})
	d.chat.machine = "server"
	d.Update(d.chat.state)
	if got, want := d.composer.machineButton.Text, "@server, offline"; got != want {
		t.Errorf("machine: got %q, want %q", got, want)
	}
}

func TestUnchangedChatDrawsNoFrame(t *testing.T) {
	d := newDesk(t, 800, 600)
	s := conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}}
	for i := range 30 {
		s.Messages = append(s.Messages, user(fmt.Sprint("u", i), "And this?"), assistant(fmt.Sprint("a", i), protocol.RunID(fmt.Sprint("r", i)), protocol.Text("That, too.")))
	}
	s.Runs = []protocol.RunInfo{{RunID: "now", State: protocol.RunStreaming, Step: 1, Text: strings.Repeat("a word and another ", 200)}}
	d.Update(s)
	redraws := widgettest.CountRedraws(t)
	d.Update(s)
	for i := range 10 {
		d.Tick(noon.Add(time.Duration(i) * time.Second))
	}
	if *redraws != 0 {
		t.Errorf("redraws of a chat in which nothing changed: got %d, want 0", *redraws)
	}
	s.Runs[0].Text += "and one more"
	d.Update(s)
	if *redraws == 0 {
		t.Error("redraws for another word: got none")
	}
}

// TestCoversAreDrawnOnlyOverRows: large areas dominate the drawing time.
func TestCoversAreDrawnOnlyOverRows(t *testing.T) {
	d := newDesk(t, 800, 600)
	check := func(when string, header, composer bool) {
		t.Helper()
		if got := d.headerBackground.Visible(); got != header {
			t.Errorf("%s, the header's background is visible: got %t, want %t", when, got, header)
		}
		if got := d.composerBackground.Visible(); got != composer {
			t.Errorf("%s, the composer's background is visible: got %t, want %t", when, got, composer)
		}
	}
	s := conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{user("1", "And this?")}}
	d.Update(s)
	check("with one message", false, false)
	for i := range 30 {
		s.Messages = append(s.Messages, assistant(fmt.Sprint("a", i), protocol.RunID(fmt.Sprint("r", i)), protocol.Text(strings.Repeat("That, too. ", 70))))
	}
	d.Update(s)
	check("at the end of a long chat", true, false)
	d.rows().Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 150)})
	check("above the end", true, true)
}
