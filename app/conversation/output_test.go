package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// modelNote is a note for the model.
func modelNote(text string) protocol.Block {
	b := protocol.Text(text)
	b.Aside = true
	return b
}

func cardOf(m protocol.Message) transcript.Call {
	block := toolCall("a", "server__"+m.Call.Tool, `{"command":"make install"}`)
	return callView{block: &block, result: &m}.card(new(style.Machines), noon)
}

func TestEditedCallShowsItsOutputAndItsOwnArguments(t *testing.T) {
	exit := 0
	m := protocol.Message{Role: protocol.RoleToolResult, Content: protocol.Content{
		modelNote(`The person changed the call before it ran. Its arguments were: {"command":"make"}`),
		protocol.Text(`{"status":"completed","sessionId":"e130","exitCode":0,"output":"built\n","tail":"built\n"}`),
	}, Call: &protocol.CallInfo{CallID: "c", Tool: "Bash", State: protocol.CallDone, ExitCode: &exit, Edited: true, Args: json.RawMessage(`{"command":"make"}`)}}
	c := cardOf(m)
	if c.Output != "built" || c.Argument != "make" || c.Status != "edited by you" {
		t.Errorf(`got %+v; want Output "built", Argument "make" and Status "edited by you"`, c)
	}
	m.Call.Partial = &protocol.PartialChange{Allowed: 2, Total: 3}
	if c = cardOf(m); c.Status != "2 of 3 changes allowed" {
		t.Errorf(`the status is %q, want "2 of 3 changes allowed"`, c.Status)
	}
	exit = 2
	if c = cardOf(m); c.Status != "exit 2" || c.Brief != "2 of 3 changes allowed" {
		t.Errorf(`after a failure: %q, %q; want "exit 2" and "2 of 3 changes allowed"`, c.Status, c.Brief)
	}
}

func TestOutputBeforeACrashStaysInTheCard(t *testing.T) {
	info := protocol.CallInfo{CallID: "c", Tool: "Bash", State: protocol.CallUnknown, Error: "Node disconnected: vm. Unknown outcome: the call of Bash …"}
	m := protocol.Message{Role: protocol.RoleToolResult, IsError: true, Call: &info, Content: protocol.Content{protocol.Text("Error: " + info.Error + "\nUntil then: tick 1\ntick 2\n")}}
	if c := cardOf(m); c.Output != "tick 1\ntick 2\n" || !strings.HasPrefix(c.Note, "Outcome unknown: ") || strings.Contains(c.Note, "Bash") || c.Status != "outcome unknown" {
		t.Errorf(`got %+v; want Output "tick 1\ntick 2\n", a Note that begins with "Outcome unknown: ", no "Bash" in Note and Status "outcome unknown"`, c)
	}
	m.Content = protocol.Content{protocol.Text("Error: " + info.Error)}
	if c := cardOf(m); c.Output != "" || !strings.HasPrefix(c.Note, "Outcome unknown: ") {
		t.Errorf("without output: %+v", c)
	}
}

func TestLateResultSaysThatItIsLate(t *testing.T) {
	m := protocol.Message{Role: protocol.RoleToolResult, Content: protocol.Content{
		modelNote("The outcome of the call of Bash on server that started at 10:00:00 was unknown. The machine has now reported it:"), protocol.Text(`{"output":"built\n"}`),
	}, Call: &protocol.CallInfo{CallID: "c", Tool: "Bash", State: protocol.CallDone}}
	if c := cardOf(m); c.Output != "built" || !strings.Contains(c.Note, "after its connection had been lost") {
		t.Errorf(`got %+v; want Output "built" and "after its connection had been lost" in Note`, c)
	}
}

func TestTailOfLiveOutputBeginsAtALine(t *testing.T) {
	info := &protocol.CallInfo{CallID: "c", Tool: "Bash", State: protocol.CallRunning, Tail: "32mok\x1b[0m\nnext\n", Bytes: 9000}
	if c := (callView{info: info}).card(new(style.Machines), noon); c.Output != "next\n" || c.Size != "The end of 9.0 kB" {
		t.Errorf(`got %q, %q; want Output "next\n" and Size "The end of 9.0 kB"`, c.Output, c.Size)
	}
}

// changedChat is a chat with a change of a file.
func changedChat() State {
	info := &protocol.CallInfo{
		CallID: "c", Tool: "Edit", Node: "server", State: protocol.CallDone, Effect: protocol.EffectWrite, Args: json.RawMessage(`{"path":"a.go"}`),
		Preview: &protocol.CallPreview{Path: "/srv/a.go", Diff: "@@ -1 +1 @@\n-a\n+b\n", Added: 1, Removed: 1},
	}
	return State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{
		user("1", "x"), assistant("2", "r", toolCall("a", "server__Edit", `{"path":"a.go"}`)), result("3", "a", "ok", info), assistant("4", "r", protocol.Text("Done.")), user("5", "thanks"),
	}}
}

func TestChangeOfAFileIsUndoneAndRedoneFromItsCard(t *testing.T) {
	d := newDesk(t, 900, 700)
	d.gateway[protocol.FilesRevert.Name] = func(p any) (any, error) {
		c := p.(protocol.FilesChangeParams)
		d.note("undo %s %v", c.CallID, c.Redo)
		if c.Redo {
			return nil, errors.New("cannot redo '/srv/a.go': it was changed after the revert; nothing was done")
		}
		return nil, nil
	}
	d.host.Holds = true
	d.Update(changedChat())
	d.choices.setExpanded("", "c", true)
	d.choices.rebindCards()
	test.Tap(d.button("Undo"))
	if d.button("Undo") != nil {
		t.Error("Undo can be pressed twice")
	}
	d.host.Release()
	d.assert(t, "undo c false")
	test.Tap(d.button("Redo"))
	d.host.Release()
	d.assert(t, "undo c true")
	if d.button("Redo") == nil {
		t.Error("after a failure it cannot be tried again")
	}
	if text := lines(d.transcript.Items()); !strings.Contains(text, "undone") {
		t.Errorf("got rows without \"undone\":\n%s", text)
	}
	for _, it := range d.transcript.Items() {
		if tool, ok := it.Data.(toolData); ok && !strings.Contains(tool.card.Note, "was changed after the revert") {
			t.Errorf("the reason is not shown: %q", tool.card.Note)
		}
	}
}

func TestUndoneChangeIsStillUndoneAfterReopeningTheChat(t *testing.T) {
	for name, state := range map[string]string{"undone here": protocol.ChangeStands, "undone before": protocol.ChangeReverted} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 900, 700)
			d.gateway[protocol.FilesDiff.Name] = func(any) (any, error) { return protocol.FilesDiffResult{State: state}, nil }
			d.host.Holds = true
			d.Update(changedChat())
			d.choices.setExpanded("", "c", true)
			d.choices.rebindCards()
			test.Tap(d.button("Undo"))
			d.Update(State{Session: protocol.SessionEntry{SessionKey: "other"}})
			d.host.Release() // while another chat is shown
			d.Update(changedChat())
			for _, it := range d.transcript.Items() {
				tool, ok := it.Data.(toolData)
				if !ok {
					continue
				}
				if tool.card.Undo != "Redo" || tool.card.Status != "undone" {
					t.Errorf("got %q, %q, want Redo, undone", tool.card.Undo, tool.card.Status)
				}
				if said := strings.Contains(tool.card.Note, "already undone"); said != (state == protocol.ChangeReverted) {
					t.Errorf("got note %q, want said %v", tool.card.Note, state == protocol.ChangeReverted)
				}
			}
		})
	}
}

func TestOnlyChangesOfFilesOnMachinesCanBeUndone(t *testing.T) {
	for name, edit := range map[string]func(*protocol.CallInfo){
		"a command":          func(c *protocol.CallInfo) { c.Tool = "Bash" },
		"a failed change":    func(c *protocol.CallInfo) { c.State = protocol.CallFailed },
		"the gateway's file": func(c *protocol.CallInfo) { c.Node = protocol.NativePrefix },
		"no path":            func(c *protocol.CallInfo) { c.Preview = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := changedChat()
			edit(s.Messages[2].Call)
			for _, it := range newBuilder(&style.Machines{}).build(s, noon) {
				if d, ok := it.Data.(toolData); ok && d.card.Undo != "" {
					t.Errorf("%q is offered", d.card.Undo)
				}
			}
		})
	}
}

func TestTheRestOfALongOutputIsLoaded(t *testing.T) {
	d := newDesk(t, 900, 700)
	d.gateway[protocol.JournalList.Name] = func(p any) (any, error) {
		d.note("load %s", p.(protocol.JournalListParams).CallID)
		output, err := json.Marshal(strings.Repeat("all\n", 500))
		return protocol.JournalListResult{Calls: []protocol.JournalEntry{{Output: output}}}, err
	}
	part := `{"output":"` + strings.Repeat(`some\n`, 30) + "\n[… 2000000 bytes left out; ask for a part of it …]\n" + strings.Repeat(`end\n`, 30)
	info := &protocol.CallInfo{CallID: "c", Tool: "Bash", Node: "server", Effect: protocol.EffectExec, State: protocol.CallDone}
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{
		user("1", "x"), assistant("2", "r", toolCall("a", "server__Bash", `{"command":"make"}`)), result("3", "a", part, info),
	}})
	d.Tick(noon.Add(time.Second))
	card := func() transcript.Call {
		for _, it := range d.transcript.Items() {
			if tool, ok := it.Data.(toolData); ok {
				return tool.card
			}
		}
		return transcript.Call{}
	}
	if c := card(); c.Size != "2.0 MB" || !strings.Contains(c.Output, "⋯ 2.0 MB not shown") || !c.CanLoad {
		t.Errorf(`the part: %q, %v; want "2.0 MB" and true`, c.Size, c.CanLoad)
	}
	test.Tap(d.button("Show all"))
	d.assert(t, "load c")
	if c := card(); c.Output != strings.Repeat("all\n", 500) || c.CanLoad || c.Size != "" {
		t.Errorf("the whole: %d bytes, %q", len(c.Output), c.Size)
	}
	if d.button("Show less") == nil {
		t.Error("it is not shown")
	}
}

func TestWrappingIsChosenForAllCardsAndStored(t *testing.T) {
	d := newDesk(t, 900, 700)
	info := &protocol.CallInfo{CallID: "c", Tool: "Bash", Node: "server", Effect: protocol.EffectExec, State: protocol.CallDone}
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{
		user("1", "x"), assistant("2", "r", toolCall("a", "server__Bash", `{"command":"make"}`)), result("3", "a", strings.Repeat("a long line ", 40), info),
	}})
	rows := widgettest.All[transcript.Row](d.transcript)
	card := rows[len(rows)-1].(*row).content.(*transcript.CallCard)
	low := card.Size().Height
	card.OnWrap(true)
	if !d.shown.host.Prefs.Get().WrapOutput {
		t.Error("the choice is not stored")
	}
	if card.Size().Height <= low {
		t.Errorf("the card is %v high, wrapped %v", low, card.Size().Height)
	}
}

func TestUndecodablePictureIsReportedOnce(t *testing.T) {
	test.NewTempApp(t)
	var whole bytes.Buffer
	if err := png.Encode(&whole, image.NewGray(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"empty": nil, "no picture": []byte("hello"), "cut off": whole.Bytes()[:whole.Len()-20]} {
		r := Drawable(name, data)
		if _, ok := r.(*transcript.Unreadable); !ok {
			t.Errorf("%s: got %T, want an icon that says so", name, r)
		}
		tapped := false
		view := transcript.NewThumbnail(r, func() { tapped = true })
		pagetest.Shows(t, view, "This picture cannot be shown.")
		test.Tap(pagetest.Button(t, view, "Save"))
		if !tapped {
			t.Errorf("%s: the button Save does nothing", name)
		}
	}
	if _, ok := Drawable("whole", whole.Bytes()).(*transcript.Unreadable); ok {
		t.Error("a whole picture is not shown")
	}
}
