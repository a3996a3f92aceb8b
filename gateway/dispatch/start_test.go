package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/dispatch/dispatchtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// look returns a person's own call of a read-only tool.
func look(args string) Call {
	return Call{Tool: "tower__Look", Args: json.RawMessage(args), Direct: true, AskedBy: protocol.AskedBy{Kind: "client", Name: "cli"}}
}

// begin starts a call; its goroutines end before the test does.
func (g *gateway) begin(ctx context.Context, c Call) (<-chan ended, bool) {
	g.t.Helper()
	var wg sync.WaitGroup
	g.t.Cleanup(wg.Wait)
	ch := make(chan ended, 2) // one more than expected
	ok := g.Start(ctx, auth.Owner("cli"), c, func(f func()) { wg.Go(f) }, func(r Result, err error) { ch <- ended{r, err} })
	return ch, ok
}

func (g *gateway) started(ctx context.Context, c Call) <-chan ended {
	g.t.Helper()
	ch, ok := g.begin(ctx, c)
	if !ok {
		g.t.Fatal("not started")
	}
	return ch
}

func TestStartedCallEndsAsItsMachineSaysAndIsInTheJournal(t *testing.T) {
	g := start(t, &dispatchtest.Machine{Run: func(inv protocol.ToolInvoke, _ <-chan struct{}) (any, error) {
		if strings.Contains(string(inv.Args), "bad") {
			return nil, errors.New("no such thing")
		}
		return map[string]string{"saw": string(inv.Args)}, nil
	}})
	done := within(t, g.started(t.Context(), look(`{"at":"sky"}`)))
	if done.err != nil || string(done.Raw) != `{"saw":"{\"at\":\"sky\"}"}` || done.Info.State != protocol.CallDone {
		t.Errorf("%+v", done)
	}
	failed := within(t, g.started(t.Context(), look(`{"at":"bad"}`)))
	if failed.err != nil || failed.Info.State != protocol.CallFailed || failed.Info.Error != "no such thing" {
		t.Errorf("%+v", failed)
	}
	for _, e := range []ended{done, failed} {
		row := g.row(e.Info.CallID)
		if row.Info.State != e.Info.State || row.Info.EndedAt == 0 || row.InputSHA256 == "" || row.AskedBy.Name != "cli" || !row.Info.Direct {
			t.Errorf("%+v", row)
		}
	}
	if n := len(g.Running()); n > 0 {
		t.Errorf("%d calls run", n)
	}
	for _, inv := range g.tower.Calls() {
		if inv.IdempotencyKey == "" || inv.CallID == "" {
			t.Errorf("%+v", inv)
		}
	}
}

func TestOnlyWhatNeedsNoWaitingIsStarted(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	g.cfg.ToolApproval.Rules = nil
	for name, c := range map[string]Call{
		"an effect":         {Tool: bash, Args: json.RawMessage(`{"command":"x"}`), Direct: true},
		"the agent's":       {Tool: "tower__Look", Args: json.RawMessage(`{}`)},
		"a chat's":          {Tool: "tower__Look", Args: json.RawMessage(`{}`), Direct: true, Session: chat},
		"one with an id":    {ID: "1", Tool: "tower__Look", Args: json.RawMessage(`{}`), Direct: true},
		"wrong arguments":   {Tool: "tower__Read", Args: json.RawMessage(`{"path":1}`), Direct: true},
		"an unknown tool":   {Tool: "tower__X", Args: json.RawMessage(`{}`), Direct: true},
		"another machine's": {Tool: "x__Look", Args: json.RawMessage(`{}`), Direct: true},
	} {
		if _, ok := g.begin(t.Context(), c); ok {
			t.Error(name + " was started")
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := g.begin(over, look(`{}`)); ok {
		t.Error("a call that nobody wants any more was started")
	}
	if n := len(g.tower.Calls()) + len(g.Running()); n > 0 {
		t.Errorf("%d traces of them", n)
	}
	if open, err := g.store.OpenCalls(t.Context()); err != nil || len(open) > 0 {
		t.Error(open, err)
	}
}

func TestStartedCallIsStoppedByWhoeverComesFirst(t *testing.T) {
	slow := func() *dispatchtest.Machine {
		return &dispatchtest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
			<-stop
			return "so far", nil
		}}
	}
	t.Run("the person", func(t *testing.T) {
		g := start(t, slow())
		ch := g.started(t.Context(), look(`{}`))
		if !g.Cancel(g.Running()[0].CallID) {
			t.Fatal("not under way")
		}
		e := within(t, ch)
		if e.err != nil || e.Info.State != protocol.CallCancelled || string(e.Raw) != `"so far"` || g.row(e.Info.CallID).Info.State != protocol.CallCancelled {
			t.Errorf("%+v", e)
		}
	})
	t.Run("the one who asked", func(t *testing.T) {
		g := start(t, slow())
		ctx, cancel := context.WithCancel(t.Context())
		ch := g.started(ctx, look(`{}`))
		id := g.Running()[0].CallID
		cancel()
		if e := within(t, ch); !errors.Is(e.err, context.Canceled) || g.row(id).Info.State != protocol.CallCancelled {
			t.Errorf("%+v", e)
		}
	})
	t.Run("its time", func(t *testing.T) {
		g := start(t, slow())
		g.cfg.Timeouts.Tool = 200
		e := within(t, g.started(t.Context(), look(`{}`)))
		if !errors.Is(e.err, protocol.ErrTimeout) || e.Info.State != protocol.CallFailed || string(e.Raw) != `"so far"` {
			t.Errorf("%+v", e)
		}
	})
	t.Run("its machine", func(t *testing.T) {
		g := start(t, slow())
		ch := g.started(t.Context(), look(`{}`))
		g.tower.Detach()
		if e := within(t, ch); e.err != nil || e.Info.State != protocol.CallFailed || !strings.Contains(e.Info.Error, "disconnected") {
			t.Errorf("%+v", e)
		}
	})
}

// Each of many calls ends exactly once, whoever cancels it, and the journal agrees with the
// outcome.
func TestStartedCallsEndOnceWhileEverythingStopsThem(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const n = 100
	all := make([]<-chan ended, n)
	var wg sync.WaitGroup
	for i := range n {
		ch := g.started(ctx, look(fmt.Sprintf(`{"i":%d}`, i)))
		all[i] = ch
		if i%3 == 0 {
			wg.Go(func() {
				for _, c := range g.Running() {
					g.Cancel(c.CallID)
				}
			})
		}
		if i == n-1 {
			cancel()
		}
	}
	wg.Wait()
	for i, ch := range all {
		e := within(t, ch)
		if e.err != nil {
			continue // the context's end
		}
		if row := g.row(e.Info.CallID); row.Info.State != e.Info.State || string(row.ResultJSON) != string(e.Raw) {
			t.Errorf("%d: %s %s, in the journal %s %s", i, e.Info.State, e.Raw, row.Info.State, row.ResultJSON)
		}
	}
	for i, ch := range all {
		if len(ch) > 0 {
			t.Errorf("%d ended twice", i)
		}
	}
	if open, err := g.store.OpenCalls(context.WithoutCancel(ctx)); err != nil || len(open) > 0 {
		t.Error(open, err)
	}
}

// late is a journal that writes everything immediately.
type late struct{ *store.Store }

func (late) PutSoon(store.Call) bool              { return false }
func (late) FinishSoon(store.Call) (won, ok bool) { return false, false }

func TestNothingIsStartedThatTheJournalMustWriteFirst(t *testing.T) {
	g := &gateway{t: t, path: t.TempDir() + "/fairlead.db", tower: &dispatchtest.Machine{}}
	g.open(func(s *store.Store) Journal { return late{s} })
	if _, ok := g.begin(t.Context(), look(`{}`)); ok || len(g.tower.Calls()) > 0 {
		t.Error("started")
	}
}

func TestMemberIsSeenHoweverItIsSpelled(t *testing.T) {
	for raw, want := range map[string]bool{
		`{}`: false, `{"i":1}`: false, `{"timeou":1}`: false, `{"timeout":1}`: true, `{"TimeOut":1}`: true, `{"\u0074imeout":1}`: true, `{"tımeout":1}`: true, `{"x":"a timeout"}`: true,
	} {
		if got := mayHave([]byte(raw), "timeout"); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}
