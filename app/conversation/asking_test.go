package conversation

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// waitingFor is a chat whose only call waits for an answer.
func waitingFor(tool, args string) State {
	return State{
		Session:  protocol.SessionEntry{SessionKey: "k"},
		Messages: []protocol.Message{user("1", "x"), assistant("2", "r", toolCall("a", "server__"+tool, args))},
		Calls:    []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: tool, State: protocol.CallWaiting, ApprovalID: "q"}},
		Approvals: []protocol.Question{{
			ID: "q", Kind: protocol.AskCall, CallID: "c", State: protocol.QuestionPending, Node: "server", Tool: tool, Args: json.RawMessage(args), Hash: "h",
		}},
		Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunWaiting, Step: 1}},
	}
}

func commandArgs(command string) string {
	b, _ := json.Marshal(map[string]string{"command": command})
	return string(b)
}

func TestAllowIsDisabledUntilTheWholeCommandWasShown(t *testing.T) {
	long := commandArgs(strings.Repeat("echo one two three && ", 300) + "rm -r /srv")
	for _, scale := range []float32{1, 1.5} {
		for _, width := range []float32{1100, 520} {
			d := newDesk(t, width, 700)
			fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, scale))
			d.Update(waitingFor("Bash", long))
			for s := range 10 {
				d.Tick(noon.Add(time.Duration(s) * time.Second))
			}
			if d.button("Allow once") != nil {
				t.Errorf("%v wide at %v: Allow is offered", width, scale)
			}
			test.Tap(d.button("Review…"))
			d.assert(t, "question q")

			d.Update(waitingFor("Bash", commandArgs("make -j4 VERBOSE=1 LDFLAGS=-static CC=clang install-strip && rm -r /srv")))
			for s := range 10 {
				d.Tick(noon.Add(time.Duration(10+s) * time.Second))
			}
			test.Tap(d.button("Allow once"))
			d.assert(t, "allow q h")
		}
	}
}

func TestAQuestionThatChangedIsNotArmed(t *testing.T) {
	d := newDesk(t, 860, 700)
	d.Update(waitingFor("Bash", commandArgs("make")))
	d.Tick(noon.Add(5 * time.Second))
	s := waitingFor("Bash", commandArgs("rm -r /srv"))
	s.Approvals[0].Hash = "other"
	d.Update(s)
	test.Tap(d.button("Allow once"))
	d.assert(t)
	d.Tick(noon.Add(6 * time.Second))
	test.Tap(d.button("Allow once"))
	d.assert(t)
	d.Tick(noon.Add(7 * time.Second))
	test.Tap(d.button("Allow once"))
	d.assert(t, "allow q other")
}

func TestCardShowsTheWholeQuestion(t *testing.T) {
	for _, c := range []struct {
		tool, args, says string
		review           bool
	}{
		{"Bash", commandArgs("make"), "make", false},
		{"Bash", commandArgs("make \u202etxt"), "make ⟨U+202E⟩txt", true},
		{"Bash", commandArgs("m\u0430ke"), "m\u0430ke", true},
		{"Teleport", `{"name":"moon","force":true}`, "name: moon …", false},
		{"Search", `{"query":"moon"}`, "query: moon", false},
	} {
		t.Run(c.tool+" "+c.args, func(t *testing.T) {
			s := waitingFor(c.tool, c.args)
			s.Messages[1].Content[0].Arguments = json.RawMessage(`{"command":"something else"}`)
			d := newBuilder(&style.Machines{}).build(s, noon)[2].Data.(toolData)
			if d.card.Argument != c.says || d.card.NeedsReview != c.review {
				t.Errorf("%s %s: %q, to be reviewed: %v; want %q and %v", c.tool, c.args, d.card.Argument, d.card.NeedsReview, c.says, c.review)
			}
		})
	}
	s := waitingFor("Edit", `{"path":"a.go"}`)
	s.Approvals[0].Preview = &protocol.CallPreview{Diff: "+a", Truncated: true}
	if d := newBuilder(&style.Machines{}).build(s, noon)[2].Data.(toolData); !d.card.NeedsReview {
		t.Error("of a change that is longer than what is shown the card offers Allow")
	}
}

func TestCardsShowMachineDisplayNames(t *testing.T) {
	m := &style.Machines{}
	m.SetName("server", "The big one")
	d := newBuilder(m).build(waitingFor("Bash", commandArgs("make")), noon)[2].Data.(toolData)
	if d.card.Machine != "The big one" || d.card.Color != m.Color("server") {
		t.Errorf(`%q in %v; want d.card.Machine "The big one" and d.card.Color %v`, d.card.Machine, d.card.Color, m.Color("server"))
	}
}
