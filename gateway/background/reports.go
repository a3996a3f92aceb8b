package background

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Limits of what an event brings into a chat.
const (
	maxTail = 4000 // characters, as in the tail of a command's result
	maxWord = 200  // characters of an id, a signal and of the command line
	// comeLate is how long a command that no call has named yet may wait for the result of its call, and one whose chat was deleted for the chat.
	comeLate = 30 * time.Second
	// maxEarly is how many commands may wait so at once.
	maxEarly = 1024
)

// Journal knows the calls.
type Journal interface {
	Call(ctx context.Context, id protocol.CallID) (store.Call, error)
	CallOfProcess(ctx context.Context, node protocol.NodeID, process string) (store.Call, error)
	OpenCalls(ctx context.Context) ([]store.Call, error)
	CallsOnProcess(ctx context.Context, chat protocol.SessionKey, since protocol.CallID) ([]store.Call, error)
}

// Chats take what happened. Tell starts or queues a run after the one that began the command, and for whom the call was that did; protocol.ErrConflict says that the run is there already, protocol.ErrNotFound that the
// chat is gone.
type Chats interface {
	Tell(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID, by protocol.AskedBy, c protocol.ExecCompletion) error
}

// Reports takes the events of machines. It is safe for use by many goroutines.
type Reports struct {
	journal Journal
	chats   Chats

	mu    sync.Mutex // guards early
	early map[early]time.Time
}

// early is a command whose end was reported before any call named it.
type early struct {
	node    protocol.NodeID
	process string
}

// New makes it.
func New(j Journal, c Chats) *Reports {
	return &Reports{journal: j, chats: c, early: make(map[early]time.Time)}
}

// errEarly has the machine report again: the call is not over, so its chat could not make sense of the event, or one that may tell the chat of the
// same end is not, or the chat is not there.
var errEarly = protocol.ErrUnavailable.With("the chat of this command is not ready for it yet; report it again")

// Event takes one event. Dropped says that no chat waits for it. protocol.ErrUnavailable is for the machine to try again.
func (r *Reports) Event(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error) {
	dropped := protocol.Ack{OK: true, Dropped: true}
	switch {
	case strings.TrimSpace(e.EventID) == "" || strings.TrimSpace(e.SessionID) == "" || len(e.EventID) > maxWord || len(e.SessionID) > maxWord:
		return dropped, nil
	case e.Event == protocol.ExecStarted:
		// The journal has the call that began it.
		slog.Debug("Background command started", "node", node, "call", e.CallID)
		return protocol.Ack{OK: true}, nil
	case e.Event != protocol.ExecFinished && e.Event != protocol.ExecFailed && e.Event != protocol.ExecTimedOut:
		return dropped, nil
	}
	call, err := r.callOf(ctx, node, e)
	switch {
	case errors.Is(err, protocol.ErrNotFound):
		return dropped, nil
	case err != nil:
		return protocol.Ack{}, again(err)
	case call.Info.SessionKey == "" || told(call):
		return dropped, nil
	}
	looks, err := r.journal.CallsOnProcess(ctx, call.Info.SessionKey, call.Info.CallID)
	if err != nil {
		return protocol.Ack{}, again(err)
	}
	for _, look := range looks {
		if look.Info.State == protocol.CallRunning { // a kill's answer comes after the end that it has made
			return protocol.Ack{}, errEarly
		}
	}
	err = r.chats.Tell(ctx, call.Info.SessionKey, RunOf(call.Info.CallID), call.Info.RunID, call.AskedBy, completion(node, e, call))
	switch {
	case err == nil:
		slog.Info("Background command ended", "node", node, "session", call.Info.SessionKey, "call", call.Info.CallID)
		return protocol.Ack{OK: true}, nil
	case errors.Is(err, protocol.ErrConflict):
		return protocol.Ack{OK: true}, nil // told before
	case errors.Is(err, protocol.ErrNotFound):
		key := early{node, e.SessionID}
		if r.waits(key) {
			return protocol.Ack{}, errEarly // it may be on its way, or be brought back
		}
		r.forget(key)
		return dropped, nil
	}
	return protocol.Ack{}, again(err)
}

// again is an error after which the machine keeps the event: a disk that is full now may not be so later.
func again(err error) error {
	if errors.Is(err, protocol.ErrUnavailable) {
		return err
	}
	return protocol.ErrUnavailable.With("the event could not be taken: " + protocol.AsError(err).Message)
}

// callOf finds the call that began a command. protocol.ErrNotFound: none has, and none can be on its way.
func (r *Reports) callOf(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (call store.Call, err error) {
	if e.CallID != "" {
		call, err = r.journal.Call(ctx, e.CallID)
		switch {
		case err == nil && call.Info.Node != node:
			return call, protocol.ErrNotFound // a machine speaks of its own calls only
		case err == nil && !call.Info.Over():
			return call, errEarly
		case !errors.Is(err, protocol.ErrNotFound):
			return call, err
		}
		// The machine may count its calls otherwise; the command has a name of its own.
	}
	key := early{node, e.SessionID}
	call, err = r.journal.CallOfProcess(ctx, node, e.SessionID)
	if !errors.Is(err, protocol.ErrNotFound) {
		r.forget(key)
		return call, err
	}
	open, openErr := r.journal.OpenCalls(ctx)
	if openErr != nil {
		return call, openErr
	}
	for _, c := range open {
		if c.Info.Node == node && (c.Info.Effect == protocol.EffectExec || c.Info.Effect == protocol.EffectUnknown) && c.Info.SessionKey != "" && r.waits(key) {
			return call, errEarly
		}
	}
	r.forget(key)
	return call, err
}

// waits reports whether a command that nobody knows may go on waiting for its call.
func (r *Reports) waits(key early) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, known := r.early[key]
	if !known {
		if len(r.early) >= maxEarly {
			clear(r.early)
		}
		since = time.Now()
		r.early[key] = since
	}
	return time.Since(since) < comeLate
}

func (r *Reports) forget(key early) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.early, key)
}

// told reports whether the call's own result has the end of the command already.
func told(c store.Call) bool {
	var out struct{ Status string }
	if json.Unmarshal(c.ResultJSON, &out) != nil {
		return false
	}
	return out.Status == "completed" || out.Status == "failed"
}

// RunOf is the run that answers the end of a command, by the call that began it.
func RunOf(call protocol.CallID) protocol.RunID {
	sum := sha256.Sum256([]byte(call))
	return protocol.RunID("exec-" + hex.EncodeToString(sum[:16]))
}

func completion(node protocol.NodeID, e protocol.NodeExecEvent, call store.Call) protocol.ExecCompletion {
	var args struct{ Command string }
	json.Unmarshal(call.Info.Args, &args) // of a tool that is not ours it may be something else
	return protocol.ExecCompletion{
		EventID: e.EventID, NodeID: node, SessionID: e.SessionID, CallID: call.Info.CallID, Event: e.Event, ExitCode: e.ExitCode,
		Signal: head(e.Signal, maxWord), OutputTail: tail(e.OutputTail, maxTail), StartedAt: e.StartedAt, EndedAt: e.EndedAt,
		Command: head(strings.Join(strings.Fields(args.Command), " "), maxWord),
	}
}

// head is the first n characters of s, tail the last.
func head(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func tail(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return fmt.Sprintf("…%s", string(r[len(r)-n+1:]))
	}
	return s
}
