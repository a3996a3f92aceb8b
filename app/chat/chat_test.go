package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

var noon = time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)

func at(before time.Duration) int64 { return noon.Add(-before).UnixMilli() }

func user(id, text string) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}, Timestamp: at(time.Minute)}
}

func assistant(id string, run protocol.RunID, blocks ...protocol.Block) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), RunID: run, Role: protocol.RoleAssistant, Content: blocks, Timestamp: at(time.Minute)}
}

func toolCall(id, name, args string) protocol.Block {
	return protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func result(id, call, text string, info *protocol.CallInfo) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), Role: protocol.RoleToolResult, ToolCallID: call, ToolName: "server__Bash", Content: protocol.Content{protocol.Text(text)}, Call: info}
}

// lines is what rows say, one line each.
func lines(items []widgets.Item) string {
	var out []string
	for _, i := range items {
		switch d := i.Data.(type) {
		case messageData:
			out = append(out, strings.TrimSpace(d.from+": "+d.text))
		case toolData:
			words := strings.Fields(fmt.Sprint(d.tool.Verb, " ", d.tool.Machine, " ", d.tool.Argument, " ", d.tool.Word, " ", d.tool.Time))
			out = append(out, "["+strings.Join(words, " ")+"]")
		case foldData:
			out = append(out, "("+d.title+")")
		case noticeData:
			out = append(out, "- "+d.text)
		case problemData:
			out = append(out, "! "+d.problem.What+" <"+d.act+">")
		case queuedData:
			out = append(out, "next "+d.text)
		}
	}
	return strings.Join(out, "\n")
}

func assertLines(t *testing.T, items []widgets.Item, want ...string) {
	t.Helper()
	if got := lines(items); got != strings.Join(want, "\n") {
		t.Errorf("rows:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	seen := map[string]bool{}
	for _, i := range items {
		if seen[i.Key] {
			t.Errorf("two rows with key %s", i.Key)
		}
		seen[i.Key] = true
	}
}

func TestResultsAreMergedIntoTheirCards(t *testing.T) {
	zero := 0
	s := State{Messages: []protocol.Message{
		user("1", "why?"),
		assistant("2", "r", protocol.Block{Type: protocol.BlockThinking, Thinking: "hm"}, protocol.Text("I look."), toolCall("a", "server__Bash", `{"command":"make"}`), toolCall("b", "laptop__Read", `{"path":"x.go"}`)),
		result("3", "a", `{"output":"built","exitCode":0}`, &protocol.CallInfo{CallID: "c1", Tool: "Bash", Node: "server", State: protocol.CallDone, StartedAt: at(2 * time.Second), EndedAt: at(1800 * time.Millisecond), ExitCode: &zero}),
		result("4", "b", "text", nil),
		assistant("5", "r", protocol.Text("Done.")),
	}}
	items := newBuilder(&look.Machines{}).build(s, noon)
	assertLines(t, items, "You: why?", "Fairlead:", "(Thought)", ": I look.", "[Bash server make 0.2 s]", "[Read laptop x.go]", ": Done.")
	if d := items[4].Data.(toolData); d.tool.Output != "built" || !d.open {
		t.Errorf("output %q, open %v", d.tool.Output, d.open)
	}
}

func TestStreamingAnswerKeepsItsRowWhenItIsStored(t *testing.T) {
	b := newBuilder(&look.Machines{})
	s := State{Messages: []protocol.Message{user("1", "hi")}, Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunStreaming, Step: 1, Text: "Hel"}}}
	live := b.build(s, noon)
	s.Runs[0].Text = "Hello"
	grown := b.build(s, noon)
	s.Messages, s.Runs = append(s.Messages, assistant("2", "r", protocol.Text("Hello"))), nil
	stored := b.build(s, noon)
	for _, items := range [][]widgets.Item{live, grown, stored} {
		if len(items) != 2 || items[1].Key != live[1].Key {
			t.Fatalf("rows %s", lines(items))
		}
	}
	if live[0].Stamp != grown[0].Stamp || live[1].Stamp == grown[1].Stamp {
		t.Error("only the row that grew should have another stamp")
	}
}

func TestStoredAndLiveAtOnceShowOnce(t *testing.T) {
	s := State{
		Messages: []protocol.Message{user("1", "hi"), assistant("2", "r", protocol.Text("Hello"))},
		Runs:     []protocol.RunInfo{{RunID: "r", State: protocol.RunStreaming, Step: 1, Text: "Hello"}},
	}
	assertLines(t, newBuilder(&look.Machines{}).build(s, noon), "You: hi", "Fairlead: Hello")
}

func TestQuestionsAreAskedInTheirCards(t *testing.T) {
	s := State{
		Messages:  []protocol.Message{user("1", "hi"), assistant("2", "r", toolCall("a", "server__Edit", `{"path":"x"}`))},
		Calls:     []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Edit", State: protocol.CallWaiting, ApprovalID: "q"}},
		Approvals: []protocol.Approval{{ID: "q", CallID: "c", State: protocol.ApprovalPending, CreatedAt: noon.UnixMilli(), Preview: &protocol.CallPreview{Diff: "+a", Added: 1}}},
		Runs:      []protocol.RunInfo{{RunID: "r", State: protocol.RunWaiting, Step: 1}},
	}
	b := newBuilder(&look.Machines{})
	items := b.build(s, noon)
	assertLines(t, items, "You: hi", "Fairlead:", "[Edit server x waiting for you]")
	d := items[2].Data.(toolData)
	if !d.tool.Question || d.tool.Armed || !d.open || d.tool.Diff != "+a" || d.approval != "q" {
		t.Errorf("%+v", d)
	}
	if later := b.build(s, noon.Add(time.Hour))[2].Data.(toolData); later.tool.Armed {
		t.Error("Allow is ready although nobody has seen the question")
	}
	b.seen["q"] = noon
	if later := b.build(s, noon.Add(2*time.Second))[2].Data.(toolData); !later.tool.Armed {
		t.Error("Allow should be ready after a while")
	}
}

func TestRunStatesAreSaid(t *testing.T) {
	s := State{Paused: true, Runs: []protocol.RunInfo{
		{RunID: "1", State: protocol.RunFailed, Error: protocol.ErrModelAuth.With("the key was refused")},
		{RunID: "2", State: protocol.RunRetrying, Notice: "Retrying in 4 s: overloaded"},
		{RunID: "3", State: protocol.RunThinking, StartedAt: at(14 * time.Second)},
		{RunID: "4", State: protocol.RunCancelled},
		{RunID: "5", State: protocol.RunQueued, Message: "and then"},
	}}
	assertLines(t, newBuilder(&look.Machines{}).build(s, noon), "! The key was refused. <settings>", "- Retrying in 4 s: overloaded", "- Working… 14 s", "- Stopped.", "next and then",
		"- The agent is paused: it starts nothing new.")
}

func TestOwnCommandHasACardOfItsOwn(t *testing.T) {
	zero := 0
	s := State{Messages: []protocol.Message{
		{ID: "1", Role: protocol.RoleUser, Origin: protocol.OriginDirect, Content: protocol.Content{protocol.Text("!ls")}, Timestamp: at(0)},
		result("2", "", "a\nb", &protocol.CallInfo{CallID: "c", Tool: "Bash", Node: "laptop", State: protocol.CallDone, Direct: true, ExitCode: &zero, Args: json.RawMessage(`{"command":"ls"}`)}),
	}}
	assertLines(t, newBuilder(&look.Machines{}).build(s, noon), "You: !ls", "[Bash laptop ls]")
}

func TestLongMessagesAreCutIntoRows(t *testing.T) {
	s := State{Messages: []protocol.Message{user("1", "x"), assistant("2", "r", protocol.Text(strings.Repeat("A paragraph of some words.\n\n", 1000)))}}
	items := newBuilder(&look.Machines{}).build(s, noon)
	if len(items) < 8 {
		t.Fatalf("%d rows", len(items))
	}
	if d := items[3].Data.(messageData); d.from != "" {
		t.Error("only the first part should have a head")
	}
}

func TestAnEarlierLostResultIsNotShownAsRunning(t *testing.T) {
	s := State{Messages: []protocol.Message{user("1", "a"), assistant("2", "r", toolCall("x", "n__Bash", `{"command":"ls"}`)), user("3", "b")}}
	assertLines(t, newBuilder(&look.Machines{}).build(s, noon), "You: a", "Fairlead:", "[Bash n ls not run]", "You: b")
}

func TestToolArgumentsReadWell(t *testing.T) {
	for args, want := range map[string]string{
		`{"command":"make -j4"}`:                       "make -j4 |",
		`{"command":"cd x\nmake"}`:                     "cd x … | cd x\nmake",
		`{"path":"a.go","content":"hi"}`:               "a.go | hi",
		`{"path":"a","oldString":"x","newString":"y"}`: "a | − x\n+ y",
		`{"pattern":"TODO","path":"gateway"}`:          "TODO  in gateway | TODO",
		`{"pattern":"**/*.go"}`:                        "**/*.go |",
		`{"n":1}`:                                      `{"n":1} |`,
		`not json`:                                     "|",
	} {
		line, whole := argument("X", json.RawMessage(args))
		if got := strings.TrimSpace(strings.TrimSpace(line) + " | " + whole); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

func TestResultsReadWell(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain",
		`{"status":"completed","output":"a\nb\n","tail":"a\nb\n","exitCode":0}`: "a\nb",
		`{"status":"completed","tail":"","exitCode":0}`:                         "",
		`{"path":"x","content":"text","lines":1}`:                               "text",
		`{"matches":["a.go","b.go"],"count":2}`:                                 "a.go\nb.go",
		`{"matches":[{"path":"a.go","line":3,"content":"func A"}]}`:             "a.go:3: func A",
		`{"path":"x","bytes":3}`:                                                "{\n  \"path\": \"x\",\n  \"bytes\": 3\n}",
		`{"output":"first \"quoted\"\nsecond [… 9 bytes left out`:               "first \"quoted\"\nsecond [… 9 bytes left out",
		"Error: timed out\nUntil then: {\"output\":\"some\"}":                   "some",
		"Error: no such file":                                                   "no such file",
	} {
		if got := output(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzResults(f *testing.F) {
	f.Add(`{"output":"a\u00e9\`)
	f.Add("Error: Error: x\nUntil then: {")
	f.Fuzz(func(t *testing.T, s string) { output(s) })
}

func TestEndsOfRunsAreSaidOnce(t *testing.T) {
	failed := protocol.Message{ID: "2", RunID: "r", Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("it broke")}, ErrorMessage: "it broke", StopReason: "error"}
	stopped := protocol.Message{ID: "3", RunID: "q", Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("Stopped.")}}
	s := State{Messages: []protocol.Message{user("1", "x"), failed, stopped}, Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunFailed, Error: protocol.ErrModel.With("it broke")}}}
	assertLines(t, newBuilder(&look.Machines{}).build(s, noon), "You: x", "- Stopped.", "! It broke. <retry>")
	s.Runs = nil
	assertLines(t, newBuilder(&look.Machines{}).build(s, noon), "You: x", "! It broke. <>", "- Stopped.")
}

func TestStateOfPicksOneConversation(t *testing.T) {
	v := state.View{
		Status: protocol.Status{Model: protocol.ModelRef{ID: "default"}}, Problem: "refused",
		Sessions:  []protocol.SessionEntry{{SessionKey: "a", Settings: &protocol.SessionPrefs{Model: &protocol.ModelRef{ID: "own"}}}, {SessionKey: "b"}},
		Runs:      []protocol.RunInfo{{RunID: "1", SessionKey: "a"}, {RunID: "2", SessionKey: "b"}},
		Calls:     []protocol.CallInfo{{CallID: "1", SessionKey: "a"}, {CallID: "2", SessionKey: "b"}},
		Approvals: []protocol.Approval{{ID: "1", SessionKey: "a"}, {ID: "2", SessionKey: "b"}},
	}
	s := StateOf(v, state.ChatView{Key: "a", Loading: true})
	if s.Model.ID != "own" || len(s.Runs) != 1 || len(s.Calls) != 1 || s.Approvals[0].ID != "1" || !s.Loading || s.Offline != "Not connected: refused" {
		t.Errorf("%+v", s)
	}
	if s := StateOf(v, state.ChatView{Key: "b"}); s.Model.ID != "default" || s.Runs[0].RunID != "2" {
		t.Errorf("%+v", s)
	}
}

func TestWordsForTimesAndCounts(t *testing.T) {
	for got, want := range map[string]string{
		clock(at(time.Hour), noon):       "11:00",
		clock(at(24*time.Hour), noon):    "yesterday 12:00",
		clock(at(24*30*time.Hour), noon): "3 April 12:00",
		span(200 * time.Millisecond):     "0.2 s",
		span(12 * time.Second):           "12 s",
		span(125 * time.Second):          "2 min 5 s",
		tokens(950):                      "950",
		tokens(42_100):                   "42k",
		size(1_400_000_000):              "1.4 GB",
		sentence("the provider refused"): "The provider refused.",
		meter(protocol.SessionEntry{}):   "",
		meter(protocol.SessionEntry{ContextTokens: 42000, ContextWindow: 200000, Usage: &protocol.Usage{Cost: new(0.12)}}): "42k of 200k · $0.12",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// desk is a pane in a window that writes down what it calls.
type desk struct {
	*Pane
	win  fyne.Window
	did  []string
	sent []protocol.Attachment
}

func newDesk(t testing.TB, width, height float32) *desk {
	test.NewTempApp(t)
	fyne.CurrentApp().Settings().SetTheme(look.New(look.Light, 1))
	d := &desk{}
	note := func(format string, a ...any) { d.did = append(d.did, fmt.Sprintf(format, a...)) }
	d.Pane = New(Handlers{
		Send: func(text string, images []protocol.Attachment, node protocol.NodeID) {
			note("send %q %d @%s", text, len(images), node)
			d.sent = images
		},
		Stop:     func() { note("stop") },
		Unqueue:  func(id protocol.RunID) { note("unqueue %s", id) },
		Retry:    func(r protocol.RunInfo) { note("retry %s", r.RunID) },
		StopCall: func(id protocol.CallID) { note("stop call %s", id) },
		Answer:   func(q protocol.Approval, decision string) { note("%s %s %s", decision, q.ID, q.Hash) },
		Review:   func(id protocol.ApprovalID) { note("review %s", id) },
		Older:    func() { note("older") },
		Rename:   func(s string) { note("rename %q", s) },
		Settings: func() { note("settings") },
		SetModel: func(protocol.ModelRef) {}, SetThink: func(string) {},
		ReadFile: func(path string, done func(protocol.Attachment, error)) {
			if strings.Contains(path, "bad") {
				done(protocol.Attachment{}, errors.New("it is too large"))
				return
			}
			done(protocol.Attachment{Filename: path, MimeType: "image/png"}, nil)
		},
		PasteImage: func(done func(protocol.Attachment, error)) { done(protocol.Attachment{Filename: "pasted.png"}, nil) },
	}, &look.Machines{})
	d.win = test.NewTempWindow(t, d.Pane)
	d.win.SetPadded(false)
	d.win.Resize(fyne.NewSize(width, height))
	d.Tick(noon)
	return d
}

func (d *desk) assert(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(d.did, "; "); got != strings.Join(want, "; ") {
		t.Errorf("did %s\nwant %s", got, strings.Join(want, "; "))
	}
	d.did = nil
}

func (d *desk) button(text string) *widgets.Button {
	var found *widgets.Button
	var visit func(o fyne.CanvasObject)
	visit = func(o fyne.CanvasObject) {
		if !o.Visible() {
			return
		}
		switch o := o.(type) {
		case *widgets.Button:
			if o.Text == text {
				found = o
			}
		case *fyne.Container:
			for _, c := range o.Objects {
				visit(c)
			}
		}
		if w, ok := o.(fyne.Widget); ok {
			for _, c := range test.WidgetRenderer(w).Objects() {
				visit(c)
			}
		}
	}
	visit(d.win.Content())
	return found
}

func key(e *entry, name fyne.KeyName) { e.TypedKey(&fyne.KeyEvent{Name: name}) }

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

func TestChipsOfAnEmptyChatDoRealWork(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}})
	var chips []*widgets.Press
	var visit func(o fyne.CanvasObject)
	visit = func(o fyne.CanvasObject) {
		if p, ok := o.(*widgets.Press); ok {
			chips = append(chips, p)
		}
		if c, ok := o.(*fyne.Container); ok {
			for _, o := range c.Objects {
				visit(o)
			}
		}
	}
	visit(d.empty)
	for _, c := range chips {
		test.Tap(c)
	}
	d.assert(t, `send "run ls -la" 0 @`, `send "list the Go files" 0 @`, `send "read README.md" 0 @`, `send "what can you do" 0 @`)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{user("1", "x")}})
	if d.empty.Visible() {
		t.Error("the chips stayed")
	}
}

func TestCardButtonsAnswerTheQuestionThatIsShown(t *testing.T) {
	d := newDesk(t, 860, 700)
	s := State{
		Session:   protocol.SessionEntry{SessionKey: "k"},
		Messages:  []protocol.Message{user("1", "x"), assistant("2", "r", toolCall("a", "server__Bash", `{"command":"make"}`))},
		Calls:     []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Bash", State: protocol.CallWaiting, ApprovalID: "q"}},
		Approvals: []protocol.Approval{{ID: "q", CallID: "c", State: protocol.ApprovalPending, CreatedAt: noon.UnixMilli(), Hash: "h"}},
		Runs:      []protocol.RunInfo{{RunID: "r", State: protocol.RunWaiting, Step: 1}, {RunID: "n", State: protocol.RunQueued, Message: "next"}},
	}
	d.Update(s)
	test.Tap(d.button("Allow once"))
	d.assert(t)
	d.Tick(noon.Add(2 * time.Second))
	test.Tap(d.button("Review…"))
	test.Tap(d.button("Deny"))
	test.Tap(d.button("Allow once"))
	test.Tap(d.button("Take back"))
	d.assert(t, "review q", "deny q h", "allow q h", "unqueue n")
	s.Approvals, s.Calls = nil, []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Bash", State: protocol.CallRunning, StartedAt: noon.UnixMilli(), Tail: "cc"}}
	s.Runs = nil
	d.Update(s)
	if d.button("Deny") != nil {
		t.Error("an answered question still asks")
	}
	test.Tap(d.button("Stop"))
	d.assert(t, "stop call c")
}

func TestProblemsOfferWhatHelps(t *testing.T) {
	d := newDesk(t, 860, 700)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunFailed, Error: protocol.ErrModelAuth}}})
	test.Tap(d.button("Open settings"))
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Runs: []protocol.RunInfo{{RunID: "r", Message: "x", State: protocol.RunFailed, Error: protocol.ErrModel}}})
	test.Tap(d.button("Try again"))
	d.assert(t, "settings", "retry r")
}

func TestRenameInPlace(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k", Title: "Old"}})
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

func TestAnotherChatForgetsDraftAndFolds(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "a"}, Messages: []protocol.Message{user("1", "x")}})
	d.SetDraft("half a thought")
	d.open["z"] = true
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "b"}, Messages: []protocol.Message{user("1", "y")}})
	if d.Draft() != "" || len(d.open) != 0 || lines(d.transcript.Items()) != "You: y" {
		t.Errorf("%q %v %s", d.Draft(), d.open, lines(d.transcript.Items()))
	}
}

func TestNarrowPaneFitsItsWindow(t *testing.T) {
	d := newDesk(t, 480, 560)
	d.Update(State{
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

func TestOlderMessagesAreAskedForAtTheTop(t *testing.T) {
	d := newDesk(t, 860, 600)
	s := State{Session: protocol.SessionEntry{SessionKey: "k"}, More: true}
	for i := range 100 {
		s.Messages = append(s.Messages, user(fmt.Sprint(i), "message"))
	}
	d.Update(s)
	d.assert(t)
	d.transcript.ScrollToTop()
	d.transcript.ScrollToTop()
	d.assert(t, "older")
}

// One more piece of an answer in a chat of 20,000 messages, from state to screen.
func BenchmarkPaneDelta20000(b *testing.B) {
	d := newDesk(b, 860, 760)
	s := State{Session: protocol.SessionEntry{SessionKey: "k"}}
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

func TestTroubleHasRoomForItsButton(t *testing.T) {
	d := newDesk(t, 860, 500)
	reloaded := false
	d.h.Reload = func() { reloaded = true }
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Problem: "the gateway did not answer"})
	if want, got := d.trouble.MinSize().Height, d.trouble.Size().Height; got < want {
		t.Errorf("the box is %v high and wants %v", got, want)
	}
	test.Tap(d.button("Try again"))
	if !reloaded {
		t.Error("Try again did nothing")
	}
}
