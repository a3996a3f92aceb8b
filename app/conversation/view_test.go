package conversation

import (
	"fmt"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/gateway/protocol"
)

func TestCardButtonsAnswerTheQuestionThatIsShown(t *testing.T) {
	d := newDesk(t, 860, 700)
	s := State{
		Session:   protocol.SessionEntry{SessionKey: "k"},
		Messages:  []protocol.Message{user("1", "x"), assistant("2", "r", toolCall("a", "server__Bash", `{"command":"make"}`))},
		Calls:     []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Bash", State: protocol.CallWaiting, ApprovalID: "q"}},
		Approvals: []protocol.Question{{ID: "q", CallID: "c", State: protocol.QuestionPending, CreatedAt: noon.UnixMilli(), Hash: "h"}},
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
	d.assert(t, "question q", "deny q h", "allow q h", "unqueue n")
	s.Approvals, s.Calls = nil, []protocol.CallInfo{{CallID: "c", ToolCallID: "a", RunID: "r", Node: "server", Tool: "Bash", State: protocol.CallRunning, StartedAt: noon.UnixMilli(), Tail: "cc"}}
	s.Runs = nil
	d.Update(s)
	if d.button("Deny") != nil {
		t.Error("an answered question still asks")
	}
	test.Tap(d.button("Stop"))
	d.assert(t, "stop call c")
}

func TestScrollPositionIsRestored(t *testing.T) {
	d := newDesk(t, 860, 500)
	say := func(chat protocol.SessionKey, n int) State {
		s := State{Session: protocol.SessionEntry{SessionKey: chat}}
		for i := range n {
			s.Messages = append(s.Messages, user(fmt.Sprint(chat, i), fmt.Sprint("message ", i)))
		}
		return s
	}
	d.Update(say("a", 60))
	d.transcript.ScrollTo(d.transcript.Items()[20].Key, 0)
	was, _ := d.transcript.Top()
	away := func() {
		d.Update(say("b", 60))
		if !d.transcript.AtEnd() {
			t.Error("another chat does not begin at its end")
		}
		loading := say("a", 0)
		loading.Loading = true
		d.Update(loading)
	}
	away()
	d.Update(say("a", 60))
	if key, _ := d.transcript.Top(); key != was || d.transcript.AtEnd() {
		t.Errorf("the view begins with %s, not %s", key, was)
	}
	away()
	d.Update(say("a", 61))
	if !d.transcript.AtEnd() {
		t.Error("what was said meanwhile is not shown")
	}
}

func TestScrollingToTheTopLoadsOlderMessages(t *testing.T) {
	d := newDesk(t, 860, 600)
	s := State{Session: protocol.SessionEntry{SessionKey: "k"}, More: true}
	for i := range 100 {
		s.Messages = append(s.Messages, user(fmt.Sprint(i), "message"))
	}
	d.Update(s)
	d.assert(t)
	d.transcript.ScrollTo(d.transcript.Items()[0].Key, 0)
	d.transcript.ScrollTo(d.transcript.Items()[0].Key, 0)
	d.assert(t, "load")
}

func TestProblemHasRoomForItsButton(t *testing.T) {
	d := newDesk(t, 860, 500)
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Problem: "the gateway did not answer"})
	if want, got := d.problemBox.MinSize().Height, d.problemBox.Size().Height; got < want {
		t.Errorf("the box is %v high and wants %v", got, want)
	}
	test.Tap(d.button("Try again"))
	d.assert(t, "load")
}
