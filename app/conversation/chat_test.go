package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func TestOverlongOutputLineIsCutAndMarked(t *testing.T) {
	m := protocol.Message{Role: protocol.RoleToolResult, ToolName: "nas__Bash", Content: protocol.Content{protocol.Text("x" + strings.Repeat("é", maxOutput) + "\n")}}
	card := callView{result: &m}.card(new(style.Machines), time.Now())
	if len(card.Output) < maxOutput-8 || !utf8.ValidString(card.Output) || card.Size != "The end of 524 kB" {
		t.Errorf(`%d bytes, valid %v, %q; want at least %d, true and "The end of 524 kB"`, len(card.Output), utf8.ValidString(card.Output), card.Size, maxOutput-8)
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
	items := newBuilder(&style.Machines{}).build(s, noon)
	assertLines(t, items, "You: why?", "Fairlead:", "(Thought)", ": I look.", "[Bash server make 0.2 s]", "[Read laptop x.go]", ": Done.")
	if d := items[4].Data.(toolData); d.card.Output != "built" || !d.open {
		t.Errorf(`output %q, open %v; want "built" and true`, d.card.Output, d.open)
	}
}

func TestStreamingAnswerKeepsItsRowWhenItIsStored(t *testing.T) {
	b := newBuilder(&style.Machines{})
	s := State{Messages: []protocol.Message{user("1", "hi")}, Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunStreaming, Step: 1, Text: "Hel"}}}
	live := b.build(s, noon)
	s.Runs[0].Text = "Hello"
	grown := b.build(s, noon)
	s.Messages, s.Runs = append(s.Messages, assistant("2", "r", protocol.Text("Hello"))), nil
	stored := b.build(s, noon)
	for _, items := range [][]transcript.Item{live, grown, stored} {
		if len(items) != 2 || items[1].Key != live[1].Key {
			t.Fatalf("rows: got %s; want length 2 and items[1].Key %v", lines(items), live[1].Key)
		}
	}
	if live[0].Data != grown[0].Data || live[1].Data == grown[1].Data {
		t.Error("only the row that grew should have another stamp")
	}
}

func TestStoredAndLiveMessageShowsOnce(t *testing.T) {
	s := State{
		Messages: []protocol.Message{user("1", "hi"), assistant("2", "r", protocol.Text("Hello"))},
		Runs:     []protocol.RunInfo{{RunID: "r", State: protocol.RunStreaming, Step: 1, Text: "Hello"}},
	}
	assertLines(t, newBuilder(&style.Machines{}).build(s, noon), "You: hi", "Fairlead: Hello")
}

func TestQuestionsAreAskedInTheirCards(t *testing.T) {
	s := State{
		Messages:  []protocol.Message{user("1", "hi"), assistant("2", "r", toolCall("a", "server__Edit", `{"path":"x"}`))},
		Calls:     []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Edit", State: protocol.CallWaiting, ApprovalID: "q"}},
		Approvals: []protocol.Question{{ID: "q", CallID: "c", State: protocol.QuestionPending, CreatedAt: noon.UnixMilli(), Preview: &protocol.CallPreview{Diff: "+a", Added: 1}}},
		Runs:      []protocol.RunInfo{{RunID: "r", State: protocol.RunWaiting, Step: 1}},
	}
	b := newBuilder(&style.Machines{})
	items := b.build(s, noon)
	assertLines(t, items, "You: hi", "Fairlead:", "[Edit server x waiting for you]")
	d := items[2].Data.(toolData)
	if !d.card.CanAnswer || d.card.AllowEnabled || !d.open || d.card.Diff != "+a" || d.approval != "q" {
		t.Errorf(`got %+v; want card.CanAnswer, not card.AllowEnabled, open, card.Diff "+a" and approval "q"`, d)
	}
	if later := b.build(s, noon.Add(time.Hour))[2].Data.(toolData); later.card.AllowEnabled {
		t.Error("Allow is ready although nobody has seen the question")
	}
	b.recordSighting("q", "", true, noon)
	if got, want := d.card.AllowHint, question.WhyWaits("Allow"); got != want {
		t.Errorf("hint while Allow waits: got %q, want %q", got, want)
	}
	if later := b.build(s, noon.Add(2*time.Second))[2].Data.(toolData); !later.card.AllowEnabled || later.card.AllowHint != "" {
		t.Error("Allow should be ready after a while")
	}
}

// TestAQuestionWaitsForThePerson has an approval, whether or not any surface has shown it.
func TestAQuestionWaitsForThePerson(t *testing.T) {
	s := State{
		Messages:  []protocol.Message{user("1", "hi"), assistant("2", "r", toolCall("a", "server__Edit", `{"path":"x"}`))},
		Calls:     []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Edit", State: protocol.CallWaiting, ApprovalID: "q"}},
		Approvals: []protocol.Question{{ID: "q", CallID: "c", State: protocol.QuestionPending, CreatedAt: noon.UnixMilli()}},
		Runs:      []protocol.RunInfo{{RunID: "r", State: protocol.RunWaiting, Step: 1}},
	}
	b := newBuilder(&style.Machines{})
	for _, unseen := range []int{0, 2} {
		s.Approvals = []protocol.Question{s.Approvals[0]}
		s.Approvals[0].Unseen = unseen
		assertLines(t, b.build(s, noon), "You: hi", "Fairlead:", "[Edit server x waiting for you]")
	}
	s.Approvals, s.Runs = nil, nil
	for text, want := range map[string]string{"Nobody answered the question within 5m0s, so the call was not run.": "not answered", "The person denied this call.": "denied"} {
		s.Calls = []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Edit", State: protocol.CallDenied, ApprovalID: "q", Error: text, EndedAt: 1}}
		assertLines(t, b.build(s, noon), "You: hi", "Fairlead:", "[Edit server x "+want+"]")
	}
	s = State{Approvals: []protocol.Question{{ID: "q", Kind: protocol.AskContinue, Why: "50 steps are done", Unseen: 1}}}
	assertLines(t, b.build(s, noon), "[Continue? 50 steps are done waiting for you]")
}

func TestRunStatesAreShownInWords(t *testing.T) {
	s := State{Paused: true, Runs: []protocol.RunInfo{
		{RunID: "1", State: protocol.RunFailed, Error: protocol.ErrModelAuth.With("the key was refused")},
		{RunID: "2", State: protocol.RunRetrying, Notice: "Retrying in 4 s: overloaded"},
		{RunID: "3", State: protocol.RunThinking, StartedAt: at(14 * time.Second)},
		{RunID: "4", State: protocol.RunCancelled},
		{RunID: "5", State: protocol.RunQueued, Message: "and then"},
	}}
	assertLines(t, newBuilder(&style.Machines{}).build(s, noon), "! The key was refused. <settings>", "- Retrying in 4 s: overloaded", "- Working… 14 s", "- Stopped.", "next and then",
		"- The agent is paused and starts no new work.")
}

func TestBackgroundCommandEndIsALineNotABubble(t *testing.T) {
	c := protocol.ExecCompletion{NodeID: "tower", Event: protocol.ExecTimedOut, Command: "make test", OutputTail: "x"}
	m := user("u2", c.Message())
	m.Origin = protocol.OriginEvent
	items := newBuilder(nil).build(State{Messages: []protocol.Message{
		user("u1", "go"), assistant("a1", "r1", protocol.Text("It runs.")), m,
		assistant("a2", "r2", protocol.Text("It took too long.")),
	}}, noon)
	d, ok := items[2].Data.(noticeData)
	if !ok || d.text != "The background command “make test” on tower took too long and was ended." || d.icon != "warning" {
		t.Errorf(`got %+v; want ok, "The background command “make test” on tower took too long and was ended." and icon "warning"`, items[2])
	}
	if d, ok := items[3].Data.(messageData); !ok || d.sender != "Fairlead" {
		t.Errorf(`got %+v; want ok and sender "Fairlead"`, items[3])
	}
}

func TestMessagesOfSchedulesAreNotThePersons(t *testing.T) {
	m := user("u1", "[Scheduled job \"Backups\", Monday, 2 March 2026 09:00 CET]\nLook at the backups.")
	m.Origin = protocol.OriginSchedule
	items := newBuilder(nil).build(State{Messages: []protocol.Message{m}}, noon)
	d, ok := items[len(items)-1].Data.(messageData)
	if !ok || d.sender != "Schedule" || d.text != "Look at the backups." {
		t.Errorf("the row is %+v", d)
	}
}

func TestOwnCommandHasACardOfItsOwn(t *testing.T) {
	zero := 0
	s := State{Messages: []protocol.Message{
		{ID: "1", Role: protocol.RoleUser, Origin: protocol.OriginDirect, Content: protocol.Content{protocol.Text("!ls")}, Timestamp: at(0)},
		result("2", "", "a\nb", &protocol.CallInfo{CallID: "c", Tool: "Bash", Node: "laptop", State: protocol.CallDone, Direct: true, ExitCode: &zero, Args: json.RawMessage(`{"command":"ls"}`)}),
	}}
	assertLines(t, newBuilder(&style.Machines{}).build(s, noon), "You: !ls", "[Bash laptop ls]")
}

func TestLongMessagesAreCutIntoRows(t *testing.T) {
	s := State{Messages: []protocol.Message{user("1", "x"), assistant("2", "r", protocol.Text(strings.Repeat("A paragraph of some words.\n\n", 1000)))}}
	items := newBuilder(&style.Machines{}).build(s, noon)
	if len(items) < 8 {
		t.Fatalf("got %d rows, want at least 8", len(items))
	}
	if d := items[3].Data.(messageData); d.sender != "" {
		t.Error("only the first part should have a head")
	}
}

func TestAnEarlierLostResultIsNotShownAsRunning(t *testing.T) {
	s := State{Messages: []protocol.Message{user("1", "a"), assistant("2", "r", toolCall("x", "n__Bash", `{"command":"ls"}`)), user("3", "b")}}
	assertLines(t, newBuilder(&style.Machines{}).build(s, noon), "You: a", "Fairlead:", "[Bash n ls not run]", "You: b")
}

func TestToolArgumentsAreReadable(t *testing.T) {
	for args, want := range map[string]string{
		`{"command":"make -j4"}`:                       "make -j4 |",
		`{"command":"cd x\nmake"}`:                     "cd x … | cd x\nmake",
		`{"path":"a.go","content":"hi"}`:               "a.go | hi",
		`{"path":"a","oldString":"x","newString":"y"}`: "a | − x\n+ y",
		`{"pattern":"TODO","path":"gateway"}`:          "TODO  in gateway |",
		`{"pattern":"**/*.go"}`:                        "**/*.go |",
		`{"n":1}`:                                      "n: 1 |",
		`{"n":1,"list":["<a>"]}`:                       `n: 1, list: ["<a>"] | n: 1` + "\n" + `list: ["<a>"]`,
		`not json`:                                     "|",
	} {
		t.Run(args, func(t *testing.T) {
			line, whole := argument(json.RawMessage(args))
			if got := strings.TrimSpace(strings.TrimSpace(line) + " | " + whole); got != want {
				t.Errorf("%s: %q, want %q", args, got, want)
			}
		})
	}
}

func TestEndOfARunIsShownOnce(t *testing.T) {
	failed := protocol.Message{ID: "2", RunID: "r", Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("it broke")}, ErrorMessage: "it broke", StopReason: "error"}
	stopped := protocol.Message{ID: "3", RunID: "q", Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("Stopped.")}}
	s := State{Messages: []protocol.Message{user("1", "x"), failed, stopped}, Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunFailed, Error: protocol.ErrModel.With("it broke")}}}
	assertLines(t, newBuilder(&style.Machines{}).build(s, noon), "You: x", "- Stopped.", "! It broke. <retry>")
	s.Runs = nil
	assertLines(t, newBuilder(&style.Machines{}).build(s, noon), "You: x", "! It broke. <>", "- Stopped.")
}

// TestNewestFailureCanBeRetried checks a failed run that the gateway no longer knows
// after a restart.
func TestNewestFailureCanBeRetried(t *testing.T) {
	failed := protocol.Message{ID: "2", RunID: "r", Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, ErrorMessage: "it broke", StopReason: "error"}
	cut := assistant("2", "r", protocol.Text("It is"))
	cut.ErrorMessage, cut.StopReason = "it broke", "error"
	for want, m := range map[string]protocol.Message{"You: x\n! It broke. <%s>": failed, "You: x\nFairlead: It is\n! It broke. <%s>": cut} {
		t.Run(want, func(t *testing.T) {
			s := State{Messages: []protocol.Message{user("1", "x"), m}}
			assertLines(t, newBuilder(&style.Machines{}).build(s, noon), fmt.Sprintf(want, "retry"))
			s.Runs = []protocol.RunInfo{{RunID: "q", State: protocol.RunThinking, StartedAt: noon.UnixMilli()}}
			assertLines(t, newBuilder(&style.Machines{}).build(s, noon), fmt.Sprintf(want, ""), "- Working…")
			s.Runs, s.Messages = nil, append(s.Messages, user("3", "y"))
			assertLines(t, newBuilder(&style.Machines{}).build(s, noon), fmt.Sprintf(want, ""), "You: y")
		})
	}
}

func TestStateOfPicksOneConversation(t *testing.T) {
	v := feed.View{
		Status:    feed.Status{Status: protocol.Status{Model: protocol.ModelRef{ID: "default"}}, Problem: "refused"},
		Sessions:  feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "a", Settings: &protocol.SessionPrefs{Model: &protocol.ModelRef{ID: "own"}}}, {SessionKey: "b"}}},
		Runs:      feed.Runs{List: []protocol.RunInfo{{RunID: "1", SessionKey: "a"}, {RunID: "2", SessionKey: "b"}}},
		Calls:     []protocol.CallInfo{{CallID: "1", SessionKey: "a"}, {CallID: "2", SessionKey: "b"}},
		Questions: feed.Questions{Pending: []protocol.Question{{ID: "1", Kind: protocol.AskCall, SessionKey: "a"}, {ID: "2", Kind: protocol.AskCall, SessionKey: "b"}}},
	}
	s := StateOf(v, chats.Messages{Key: "a", Loading: true})
	if s.Model.ID != "own" || len(s.Runs) != 1 || len(s.Calls) != 1 || s.Approvals[0].ID != "1" || !s.Loading || s.Offline != "Not connected. refused" {
		t.Errorf(`got %+v; want Model.ID "own", Runs of length 1, Calls of length 1, Approvals[0].ID "1", Loading and Offline "Not connected. refused"`, s)
	}
	if s := StateOf(v, chats.Messages{Key: "b"}); s.Model.ID != "default" || s.Runs[0].RunID != "2" {
		t.Errorf(`got %+v; want Model.ID "default" and Runs[0].RunID "2"`, s)
	}
}

func TestWordsForTimesAndCounts(t *testing.T) {
	for got, want := range map[string]string{
		formatTime(at(time.Hour), noon):                "11:00",
		wording.FullTime(at(time.Hour), noon):          "Sunday, 3 May 2026, 11:00:00",
		wording.FullTime(0, noon):                      "",
		wording.DayName(noon.AddDate(0, 0, -1), noon):  "Yesterday",
		wording.DayName(noon.AddDate(0, 0, -3), noon):  "Thursday, 30 April",
		wording.DayName(noon.AddDate(-1, 0, -3), noon): "30 April 2025",
		formatDuration(0):                              "under 1 ms",
		formatDuration(4 * time.Millisecond):           "4 ms",
		formatDuration(200 * time.Millisecond):         "0.2 s",
		formatDuration(12 * time.Second):               "12 s",
		formatDuration(125 * time.Second):              "2 min 5 s",
		format.Sentence("the provider refused"):        "The provider refused.",
		format.Sentence("still loading…"):              "Still loading…",
		format.Sentence("模型不存在。"):                      "模型不存在。",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAFailureStaysInTheHistory sends the next message while the failed run is still known.
func TestAFailureStaysInTheHistory(t *testing.T) {
	b := newBuilder(&style.Machines{})
	failed := protocol.Message{ID: "2", RunID: "r", Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, ErrorMessage: "it broke", StopReason: "error"}
	s := State{Messages: []protocol.Message{user("1", "x"), failed}, Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunFailed, Error: protocol.ErrModel.With("it broke")}}}
	assertLines(t, b.build(s, noon), "You: x", "! It broke. <retry>")
	s.Messages = append(s.Messages, user("3", "y"))
	assertLines(t, b.build(s, noon), "You: x", "! It broke. <>", "You: y")
	s.Runs = nil
	assertLines(t, b.build(s, noon), "You: x", "! It broke. <>", "You: y")
}

// TestDenialIsShownToThePersonWhoDenied checks the card, whose result has a text for the model.
func TestDenialIsShownToThePersonWhoDenied(t *testing.T) {
	denied := &protocol.CallInfo{CallID: "c", Tool: "Bash", Node: "n", State: protocol.CallDenied, Error: protocol.DeniedByPerson + protocol.DenialReason + "use ninja"}
	r := result("3", "a", "Error: "+denied.Error, denied)
	r.IsError = true
	s := State{Messages: []protocol.Message{user("1", "x"), assistant("2", "r", toolCall("a", "n__Bash", `{"command":"make"}`)), r}}
	for _, it := range newBuilder(&style.Machines{}).build(s, noon) {
		if d, ok := it.Data.(toolData); ok && (d.card.Output != "You denied this: use ninja" || d.card.Note != "") {
			t.Errorf("output: got %q and %q, want the reason once", d.card.Output, d.card.Note)
		}
	}
}

func TestCallOfAnOfflineMachineSaysSo(t *testing.T) {
	s := State{
		Messages: []protocol.Message{user("1", "hi"), assistant("2", "r", toolCall("a", "server__Bash", `{"command":"make"}`))},
		Calls: []protocol.CallInfo{
			{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Bash", State: protocol.CallRunning, Args: json.RawMessage(`{"command":"make"}`)},
			{CallID: "d", Node: "server", Tool: "Bash", State: protocol.CallRunning, Args: json.RawMessage(`{"command":"ls"}`), Direct: true},
		},
		Runs: []protocol.RunInfo{{RunID: "r", State: protocol.RunTools, Step: 1}},
	}
	for _, online := range []bool{true, false} {
		s.Nodes = []protocol.NodeInfo{{ID: "server", Online: online}}
		said := 0
		for _, i := range newBuilder(&style.Machines{}).build(s, noon) {
			if d, ok := i.Data.(toolData); ok && d.card.Status == "machine offline" && d.card.Note != "" && d.card.CanStop {
				said++
			}
		}
		if want := map[bool]int{true: 0, false: 2}[online]; said != want {
			t.Errorf("online %t: %d calls of 2 say that their machine is away, want %d", online, said, want)
		}
	}
}
