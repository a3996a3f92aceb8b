package cron_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// sentMessage is a message that the agent received.
type sentMessage struct {
	At    int64
	From  string
	In    protocol.ChatSendParams
	Prefs protocol.SessionPrefsPatch // the chat's settings from earlier patches
}

// fakeAgent simulates the agent: its runs are rows of a real store and changes on a real bus, only
// the model is missing. It answers every message according to its second line: "say X" answers X,
// "fail X" fails, "part X" answers X incompletely, "hang" works until it is cancelled, "ask" waits
// for an approval, "unanswered X" answers X after one call whose approval expired and one that the
// person denied, anything else is answered "done".
type fakeAgent struct {
	Store *store.DB
	Bus   *event.Bus
	// Takes is the duration of an answer.
	Takes time.Duration

	mu      sync.Mutex // guards the fields below
	sent    []sentMessage
	prefs   map[protocol.SessionKey]protocol.SessionPrefsPatch
	labels  map[protocol.SessionKey]string
	deleted []protocol.SessionKey
	busy    bool
	closed  bool
	stops   map[protocol.RunID]chan struct{}
	wg      sync.WaitGroup
}

// newFakeAgent returns an agent with a store of its own in dir.
func newFakeAgent(t testing.TB, dir string) *fakeAgent {
	t.Helper()
	st, err := store.Open(context.Background(), filepath.Join(dir, "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	return &fakeAgent{
		Store: st, Bus: new(event.Bus), prefs: make(map[protocol.SessionKey]protocol.SessionPrefsPatch),
		labels: make(map[protocol.SessionKey]string), stops: make(map[protocol.RunID]chan struct{}),
	}
}

// Options returns the options of a scheduler on this agent, with the default configuration in UTC.
func (a *fakeAgent) Options() cron.Options {
	cfg := config.Default()
	cfg.UserTimezone = "UTC"
	cfg.Agents.DefaultHeartbeat.Every = "0m"
	return cron.Options{
		Stores: a.stores(), Bus: a.Bus, Chats: a, Messages: a, Runs: a, Trash: a, Config: func() config.Config { return cfg },
		Deliver: deliverWithoutChannel, PromptTokens: func(context.Context, protocol.SessionKey) int64 { return 1000 },
		Ask: func(ctx context.Context, q protocol.Question, _ time.Duration, _ func()) (protocol.Question, error) {
			<-ctx.Done()
			return q, ctx.Err()
		},
		HeartbeatFile: func(protocol.AgentID) (string, error) { return "- look\n", nil },
	}
}

func (a *fakeAgent) stores() cron.Stores {
	s := a.Store
	return cron.Stores{Jobs: s.Jobs, Heartbeats: s.Heartbeats, Runs: s.Runs, Messages: s.Messages, Questions: s.Questions, Calls: s.Calls}
}

// Close stops all runs without an event, as a stopping gateway does, and closes the store.
func (a *fakeAgent) Close() {
	a.mu.Lock()
	a.closed = true
	for _, stop := range a.stops {
		close(stop)
	}
	a.stops = make(map[protocol.RunID]chan struct{})
	a.mu.Unlock()
	a.wg.Wait()
	a.Store.Close()
}

// Sent returns the messages sent so far.
func (a *fakeAgent) Sent() []sentMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]sentMessage(nil), a.sent...)
}

// Deleted returns the keys of the deleted chats.
func (a *fakeAgent) Deleted() []protocol.SessionKey {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]protocol.SessionKey(nil), a.deleted...)
}

// SetBusy makes every chat appear busy.
func (a *fakeAgent) SetBusy(busy bool) {
	a.mu.Lock()
	a.busy = busy
	a.mu.Unlock()
}

// Send implements cron.Messages.
func (a *fakeAgent) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	at := time.Now().UnixMilli()
	stop := make(chan struct{})
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return protocol.ChatSendResult{}, protocol.ErrUnavailable.With("the gateway stops")
	}
	a.sent = append(a.sent, sentMessage{at, p.String(), in, a.prefs[in.SessionKey]})
	a.stops[in.RunID] = stop
	a.mu.Unlock()
	r := store.Run{ID: in.RunID, Session: in.SessionKey, State: protocol.RunThinking, Params: in, Principal: p.String(), CreatedAt: at, StartedAt: at}
	_, err := a.Store.Runs.Start(ctx, r, protocol.Message{RunID: r.ID, Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(in.Message)}})
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	a.wg.Go(func() { a.run(r, stop) })
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: in.RunID}, nil
}

// Resume continues the runs that an earlier agent on the same store left.
func (a *fakeAgent) Resume(t testing.TB) {
	open, err := a.Store.Runs.Unfinished(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range open {
		stop := make(chan struct{})
		a.mu.Lock()
		a.stops[r.ID] = stop
		a.mu.Unlock()
		r.Params.Message = "\nsay resumed"
		a.wg.Go(func() { a.run(r, stop) })
	}
}

func (a *fakeAgent) run(r store.Run, stop chan struct{}) {
	_, text, _ := strings.Cut(r.Params.Message, "\n")
	text, _, _ = strings.Cut(text, "\n")
	word, rest, _ := strings.Cut(text, " ")
	info := protocol.RunInfo{RunID: r.ID, SessionKey: r.Session, State: protocol.RunThinking}
	answer := "done"
	var end *protocol.Error
	var never chan struct{}
	switch word {
	case "say":
		answer = rest
	case "part":
		answer, r.Answer = rest, rest
		end = protocol.ErrIncomplete.With("A filter stopped the answer.")
	case "fail":
		end = protocol.ErrModel.With(rest)
	case "ask":
		info.State = protocol.RunWaiting
		a.Bus.Publish(protocol.Change{Kind: protocol.ChangeRun, SessionKey: r.Session, Run: &info})
		<-stop
	case "hang":
		<-stop
	case "unanswered":
		answer = rest
		a.refused(r, protocol.QuestionExpired)
		a.refused(r, protocol.QuestionDenied)
	}
	if a.Takes > 0 && word != "ask" && word != "hang" {
		select {
		case <-time.After(a.Takes):
		case <-stop:
			never = stop
		}
	}
	a.mu.Lock()
	closed := a.closed
	delete(a.stops, r.ID)
	a.mu.Unlock()
	if closed {
		return
	}
	info.State, info.EndedAt, info.Error = protocol.RunDone, time.Now().UnixMilli(), end
	switch {
	case never != nil || word == "ask" || word == "hang":
		info.State = protocol.RunCancelled
	case end != nil:
		info.State = protocol.RunFailed
	default:
		msg := protocol.Message{
			RunID: r.ID, Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(answer)},
			Usage: &protocol.Usage{Input: 90, Output: 10, Total: 100, Cost: new(0.5)},
		}
		if _, err := a.Store.Messages.Append(context.Background(), r.Session, msg); err != nil {
			panic(err)
		}
		r.Answer = answer
	}
	r.State, r.EndedAt, r.Error = info.State, info.EndedAt, end
	if err := a.Store.Runs.Put(context.Background(), r); err != nil {
		panic(err)
	}
	a.Bus.Publish(protocol.Change{Kind: protocol.ChangeRun, SessionKey: r.Session, Run: &info})
}

// refused stores a call that was not made because its approval ended in the given state.
func (a *fakeAgent) refused(r store.Run, state string) {
	ctx, id := context.Background(), protocol.NewCallID()
	q := protocol.Question{ID: protocol.QuestionID(protocol.NewID()), Kind: protocol.AskCall, State: state, SessionKey: r.Session, RunID: r.ID, CallID: id}
	info := protocol.CallInfo{CallID: id, SessionKey: r.Session, RunID: r.ID, Node: "box", Tool: "Bash", State: protocol.CallDenied, ApprovalID: q.ID, EndedAt: 1}
	if err := errors.Join(a.Store.Questions.Put(ctx, q, nil), a.Store.Calls.Put(ctx, store.Call{Info: info})); err != nil {
		panic(err)
	}
}

// Cancel implements cron.Runs.
func (a *fakeAgent) Cancel(_ context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	stop := a.stops[in.RunID]
	if stop != nil {
		close(stop)
		delete(a.stops, in.RunID)
	}
	return protocol.ChatCancelResult{OK: true, RunID: in.RunID, Cancelled: stop != nil}, nil
}

// String formats a message for a test's error.
func (s sentMessage) String() string {
	return fmt.Sprintf("%s %s: %s", time.UnixMilli(s.At).UTC().Format("15:04:05"), s.In.SessionKey, s.In.Message)
}

// Create implements cron.Chats.
func (a *fakeAgent) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	_, err := a.Store.Sessions.Ensure(ctx, in.SessionKey, time.Now().UnixMilli())
	a.mu.Lock()
	defer a.mu.Unlock()
	a.labels[in.SessionKey] = in.Label
	return protocol.SessionEntry{SessionKey: in.SessionKey, Label: in.Label}, err
}

// Patch implements cron.Chats.
func (a *fakeAgent) Patch(_ context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in.Settings != nil {
		a.prefs[in.SessionKey] = *in.Settings
	}
	return protocol.OK{OK: true}, nil
}

// Delete implements cron.Trash.
func (a *fakeAgent) Delete(_ context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deleted = append(a.deleted, in.SessionKey)
	return protocol.SessionDeleteResult{OK: true}, nil
}

// Stats returns whether the agent is busy.
func (a *fakeAgent) Stats(_ context.Context, in protocol.SessionParams) (protocol.SessionStats, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return protocol.SessionStats{SessionKey: in.SessionKey, IsProcessing: a.busy}, nil
}

// deliverWithoutChannel implements cron.Options.Deliver, as if no channel were connected.
func deliverWithoutChannel(_ context.Context, d cron.Delivery) (string, error) {
	switch {
	case d.Channel != "":
		return "", protocol.ErrUnavailable.With(fmt.Sprintf("no channel %s is connected", d.Channel))
	case d.To != "":
		return "", protocol.ErrUnavailable.With(fmt.Sprintf("no channel is connected that could reach %s", d.To))
	}
	return "", nil
}
