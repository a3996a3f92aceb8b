package background

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const box = protocol.NodeID("box")

// chats records the events that each chat received.
type chats struct {
	reports []string
	runs    map[protocol.RunID]bool
	last    protocol.ExecCompletion
	by      protocol.AskedBy
	err     error
}

func (c *chats) PostCompletion(_ context.Context, chat protocol.SessionKey, run, after protocol.RunID, by protocol.AskedBy, e protocol.ExecCompletion) error {
	switch {
	case c.err != nil:
		return c.err
	case c.runs[run]:
		return protocol.ErrConflict
	}
	c.runs[run], c.last, c.by = true, e, by
	c.reports = append(c.reports, string(chat)+" after "+string(after)+": "+e.Outcome())
	return nil
}

type desk struct {
	*Reports
	t      *testing.T
	store  *store.DB
	chats  *chats
	others others
}

func open(t *testing.T) *desk {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := &chats{runs: map[protocol.RunID]bool{}}
	d := &desk{t: t, store: s, chats: c}
	d.restart()
	return d
}

// restart replaces the handler by one that remembers nothing.
func (d *desk) restart() {
	d.Reports = New(Options{Calls: d.store.Calls, Runs: d.store.Runs, Chats: d.chats, Channels: d.chats, Programs: &d.others, Keeper: &d.others})
}

// others records the events that are not for chats.
type others struct{ programs, putBack []string }

func (o *others) Event(_ protocol.NodeID, e protocol.NodeExecEvent) {
	o.programs = append(o.programs, e.EventID)
}

func (o *others) Report(_ context.Context, _ protocol.NodeID, b protocol.PutBack) (protocol.Ack, error) {
	o.putBack = append(o.putBack, b.ID)
	return protocol.Ack{OK: true}, nil
}

// begin stores a running call, end its result.
func (d *desk) begin(id protocol.CallID, chat protocol.SessionKey) store.Call {
	d.t.Helper()
	c := store.Call{Info: protocol.CallInfo{
		CallID: id, RunID: "run-" + protocol.RunID(id), SessionKey: chat, Node: box, Tool: "Bash", Effect: protocol.EffectExec,
		State: protocol.CallRunning, Args: json.RawMessage(`{"command":"make\n  test"}`),
	}, AskedBy: protocol.AskedBy{Kind: protocol.AskedBySchedule, Name: string(chat)}, CreatedAt: time.Now().UnixMilli()}
	if err := d.store.Calls.Put(d.t.Context(), c); err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *desk) end(c store.Call, process, result string) {
	d.t.Helper()
	c.Info.State, c.Info.EndedAt, c.Process, c.ResultJSON = protocol.CallDone, time.Now().UnixMilli(), process, json.RawMessage(result)
	if won, err := d.store.Calls.Finish(d.t.Context(), c); err != nil || !won {
		d.t.Fatalf("got won %v, error %v, want the call finished", won, err)
	}
}

// report sends an event and returns "ok", "dropped" or "again".
func (d *desk) report(e protocol.NodeExecEvent) string {
	d.t.Helper()
	ack, err := d.Event(d.t.Context(), box, e)
	switch {
	case errors.Is(err, protocol.ErrUnavailable):
		return "again"
	case err != nil || !ack.OK:
		d.t.Fatalf("%+v: got %+v, error %v, want it acknowledged", e, ack, err)
	case ack.Dropped:
		return "dropped"
	}
	return "ok"
}

func (d *desk) want(got, want string) {
	d.t.Helper()
	if got != want {
		d.t.Errorf("%s, want %s", got, want)
	}
}

func finished(event, process string) protocol.NodeExecEvent {
	return protocol.NodeExecEvent{EventID: event, SessionID: process, Event: protocol.ExecFinished}
}

const running = `{"status":"running","sessionId":"p"}`

func TestEndOfACommandGoesToTheChatThatBeganIt(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	d.end(d.begin("b", "two"), "q", running)
	look := d.begin("c", "two")
	look.Info.Args = json.RawMessage(`{"action":"poll","sessionId":"p"}`)
	if err := d.store.Calls.Put(t.Context(), look); err != nil {
		t.Fatal(err)
	}
	d.end(look, "p", running)
	d.want(d.report(finished("1", "p")), "ok")
	code := 2
	d.want(d.report(protocol.NodeExecEvent{EventID: "2", SessionID: "q", Event: protocol.ExecFailed, ExitCode: &code}), "ok")
	d.want(strings.Join(d.chats.reports, ", "), "one after run-a: has finished, two after run-b: failed with exit code 2")
	if by := d.chats.by; by != (protocol.AskedBy{Kind: protocol.AskedBySchedule, Name: "two"}) {
		t.Errorf("got by %+v, want the schedule two", by)
	}
	if e := d.chats.last; e.CallID != "b" || e.NodeID != box || e.Command != "make test" || e.EventID != "2" || e.SessionID != "q" {
		t.Errorf("got %+v, want the end of b", e)
	}
}

func TestAnEndWaitsForTheCallThatMayHaveMadeIt(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	kill := store.Call{Info: protocol.CallInfo{
		CallID: "k", RunID: "run-k", SessionKey: "one", Node: box, Tool: "Process", Effect: protocol.EffectExec,
		State: protocol.CallRunning, Args: json.RawMessage(`{"action":"kill","sessionId":"p"}`),
	}, CreatedAt: time.Now().UnixMilli()}
	put := func() {
		t.Helper()
		if err := d.store.Calls.Put(t.Context(), kill); err != nil {
			t.Fatal(err)
		}
	}
	put()
	d.want(d.report(finished("1", "p")), "again")
	d.end(kill, "", `{"status":"running","sessionId":"p"}`)
	d.want(d.report(finished("1", "p")), "ok")

	// A call that waits for an approval may wait for days.
	d.end(d.begin("b", "two"), "q", running)
	kill.Info.CallID, kill.Info.RunID, kill.Info.SessionKey, kill.Info.State = "l", "run-l", "two", protocol.CallWaiting
	put()
	d.want(d.report(finished("2", "q")), "ok")
}

func TestAnEndWithAStrangeCallIsKnownByItsCommand(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	d.want(d.report(protocol.NodeExecEvent{EventID: "1", SessionID: "p", CallID: "its-own-7", Event: protocol.ExecFinished}), "ok")
	d.want(strings.Join(d.chats.reports, ", "), "one after run-a: has finished")
}

func TestEventsOfProgramsAndOfRestoredFilesAreNotForChats(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	ofProgram := finished("1", "p")
	ofProgram.Caller = &protocol.ToolCaller{ID: "app"}
	d.want(d.report(ofProgram), "ok")
	d.want(d.report(protocol.NodeExecEvent{EventID: "2", SessionID: "p", Event: protocol.ExecPutBack, PutBack: &protocol.PutBack{ID: "b"}}), "ok")
	if got := d.others; !slices.Equal(got.programs, []string{"1"}) || !slices.Equal(got.putBack, []string{"b"}) || len(d.chats.reports) != 0 {
		t.Errorf("got %+v and reports to chats %q, want one event of a program, one restored file and none", got, d.chats.reports)
	}
	d.want(d.report(finished("3", "p")), "ok")
	if len(d.others.programs) != 2 || len(d.chats.reports) != 1 {
		t.Errorf("the end of a chat's command: got %q and %q, want it for both", d.others.programs, d.chats.reports)
	}
}

func TestCommandWakesItsChatOnce(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	for _, id := range []string{"1", "1", "2"} {
		d.want(d.report(finished(id, "p")), "ok")
	}
	d.restart()
	d.want(d.report(finished("1", "p")), "ok")
	if len(d.chats.reports) != 1 {
		t.Errorf("got %q, want one report", d.chats.reports)
	}
}

func TestEventBeforeTheResultIsRequestedAgain(t *testing.T) {
	d := open(t)
	c := d.begin("a", "one")
	named := protocol.NodeExecEvent{EventID: "1", SessionID: "p", CallID: "a", Event: protocol.ExecFinished}
	d.want(d.report(named), "again")
	d.want(d.report(finished("1", "p")), "again")
	d.end(c, "p", running)
	d.want(d.report(named), "ok")
	d.want(d.report(finished("1", "p")), "ok")
	if len(d.chats.reports) != 1 {
		t.Errorf("got %q, want one report", d.chats.reports)
	}
}

func TestCommandWithoutACallIsDropped(t *testing.T) {
	d := open(t)
	d.begin("a", "one") // runs for ever, and belongs to another chat
	synctest.Test(t, func(t *testing.T) {
		if !d.isWaiting(box, "p") {
			t.Error("given up at once")
		}
		time.Sleep(maxWait + time.Second)
		if d.isWaiting(box, "p") {
			t.Error("never given up")
		}
	})
}

func TestUnexpectedReportIsDropped(t *testing.T) {
	d := open(t)
	d.end(d.begin("known", "one"), "", `{"status":"completed","sessionId":"p"}`)
	d.end(d.begin("tool.invoke", ""), "q", running)
	d.end(d.begin("a", "one"), "r", running)
	for name, e := range map[string]protocol.NodeExecEvent{
		"no event id":         {SessionID: "r", Event: protocol.ExecFinished},
		"no session":          {EventID: "1", Event: protocol.ExecFinished},
		"no such event":       {EventID: "1", SessionID: "r", Event: "paused"},
		"unknown command":     finished("1", "x"),
		"unknown call":        {EventID: "1", SessionID: "x", CallID: "x", Event: protocol.ExecFinished},
		"known by its result": {EventID: "1", SessionID: "p", CallID: "known", Event: protocol.ExecFinished},
		"nobody's chat":       finished("1", "q"),
		"huge id":             finished(strings.Repeat("x", 1000), "r"),
	} {
		t.Run(name, func(t *testing.T) {
			if got := d.report(e); got != "dropped" {
				t.Errorf("got %s, want dropped", got)
			}
		})
	}
	ack, err := d.Event(t.Context(), "other", protocol.NodeExecEvent{EventID: "1", SessionID: "r", CallID: "a", Event: protocol.ExecFinished})
	if err != nil || !ack.Dropped {
		t.Errorf("another machine's: got %+v, error %v, want it dropped", ack, err)
	}
	d.want(d.report(protocol.NodeExecEvent{EventID: "1", SessionID: "r", Event: protocol.ExecStarted}), "ok")
	if len(d.chats.reports) != 0 {
		t.Errorf("got %q, want no report", d.chats.reports)
	}
}

func TestEventThatCannotBeStoredStaysWithItsMachine(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	for _, err := range []error{protocol.ErrStorage.With("The disk is full."), protocol.ErrUnavailable.With("the gateway is stopping"), protocol.ErrNotFound, errors.New("odd")} {
		d.chats.err = err
		d.want(d.report(finished("1", "p")), "again")
	}
	d.chats.err = nil
	d.want(d.report(finished("1", "p")), "ok")
	d.end(d.begin("b", "one"), "q", running)
	d.store.Close()
	d.want(d.report(finished("2", "q")), "again")
}

func TestCommandOutputIsTruncated(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	e := finished("1", "p")
	e.OutputTail, e.Signal = strings.Repeat("ä", 5000)+"end", strings.Repeat("S", 1000)
	d.want(d.report(e), "ok")
	if c := d.chats.last; utf8.RuneCountInString(c.OutputTail) != maxTail || !strings.HasSuffix(c.OutputTail, "äend") || utf8.RuneCountInString(c.Signal) != maxWord {
		t.Errorf("got %d bytes of output, %d of the signal, want %d and %d characters", len(c.OutputTail), len(c.Signal), maxTail, maxWord)
	}
}

// Follow implements Channels.
func (c *chats) Follow(context.Context, protocol.SessionKey, protocol.RunID, protocol.RunID) error {
	return nil
}

// Unfollow implements Channels.
func (c *chats) Unfollow(context.Context, protocol.RunID) {}

func TestReusedSessionIDReportsItsLastCommand(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	d.want(d.report(finished("1", "p")), "ok")
	d.end(d.begin("b", "two"), "p", running)
	d.want(d.report(finished("2", "p")), "ok")
	d.want(strings.Join(d.chats.reports, ", "), "one after run-a: has finished, two after run-b: has finished")
}

// A node that uses its session ID again without the result of a call that says so sends another
// event about a command that was reported: nobody waits for it.
func TestSecondEventOfAReportedCommandIsDropped(t *testing.T) {
	d := open(t)
	d.end(d.begin("a", "one"), "p", running)
	d.want(d.report(finished("event-1", "p")), "ok")
	run := store.Run{ID: RunOf("a"), Session: "one", State: protocol.RunDone}
	run.Params.Message = "event-1"
	if _, err := d.store.Sessions.Ensure(t.Context(), "one", 1); err != nil {
		t.Fatal(err)
	}
	if err := d.store.Runs.Put(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	d.want(d.report(finished("event-1", "p")), "ok") // its acknowledgement was lost
	d.want(d.report(finished("event-2", "p")), "dropped")
	d.want(strings.Join(d.chats.reports, ", "), "one after run-a: has finished")
}
