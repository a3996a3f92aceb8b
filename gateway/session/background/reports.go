// Package background takes the reports of nodes about commands, and tells a chat that a background
// command of its agent has ended (docs/protocol.md#background-commands). An agent that has ended the
// command itself, or has seen its end, is not started for it: the chat only gets a line for people.
// Otherwise a run of the chat answers an event, under an ID derived from the call that started the
// command. So a command starts one run, however often a node reports its end: an event that cannot be
// accepted is refused, and its node sends it again.
package background

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Limits of an event that is posted to a chat.
const (
	maxTail = 4000 // characters, as in the tail of a command's result
	maxWord = 200  // characters of an ID, a signal and of the command line
	// maxWait is the time for which the end of a command waits for the result of the call that
	// started it, or for its deleted chat to be restored.
	maxWait = 30 * time.Second
	// maxPending is the number of commands that may wait like that at once.
	maxPending = 1024
)

// Chats receive the events; session.Runs implements it.
type Chats interface {
	PostCompletion(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID, by protocol.AskedBy, c protocol.ExecCompletion) error
}

// Channels send the answer to an event to the chat's channel. Follow must be called before the run
// is posted; Unfollow reverts it.
type Channels interface {
	Follow(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID) error
	Unfollow(ctx context.Context, run protocol.RunID)
}

// Programs are the commands of programs; job.Commands implements it.
type Programs interface {
	Event(node protocol.NodeID, e protocol.NodeExecEvent)
}

// Keeper asks whether to keep what was put back after a command; tool.Keeper implements it.
type Keeper interface {
	Report(ctx context.Context, node protocol.NodeID, b protocol.PutBack) (protocol.Ack, error)
}

// Options are the parts that handle events. All fields are required.
type Options struct {
	Calls    *store.Calls
	Runs     *store.Runs
	Chats    Chats
	Channels Channels
	Programs Programs
	Keeper   Keeper
}

// Reports handles the exec events of nodes. It is safe for concurrent use.
type Reports struct {
	o Options

	mu    sync.Mutex           // guards early
	early map[string]time.Time // the commands that wait, see maxWait, by NODE/PROCESS
}

// New returns a handler of exec events.
func New(o Options) *Reports { return &Reports{o: o, early: make(map[string]time.Time)} }

// errNotReady makes the node report again, because a call that may return the same end is not
// finished, or the chat does not exist at the moment.
var errNotReady = protocol.ErrUnavailable.With("the chat of this command is not ready for the event; send it again")

// Event handles one event: of a command of a chat or of a program, or about what was put back after
// one. Dropped means that nobody waits for it. On protocol.ErrUnavailable the node must try again.
func (r *Reports) Event(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error) {
	if e.Event == protocol.ExecPutBack && e.PutBack != nil {
		return r.o.Keeper.Report(ctx, node, *e.PutBack)
	}
	r.o.Programs.Event(node, e)
	if e.Caller != nil {
		return protocol.Ack{OK: true}, nil
	}
	return r.ofChat(ctx, node, e)
}

// ofChat handles an event of a command that is not a program's.
func (r *Reports) ofChat(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error) {
	dropped := protocol.Ack{OK: true, Dropped: true}
	switch {
	case strings.TrimSpace(e.EventID) == "" || strings.TrimSpace(e.SessionID) == "" || len(e.EventID) > maxWord || len(e.SessionID) > maxWord:
		return dropped, nil
	case e.Event == protocol.ExecStarted: // the journal has the call that started it
		return protocol.Ack{OK: true}, nil
	case e.Event != protocol.ExecFinished && e.Event != protocol.ExecFailed && e.Event != protocol.ExecTimedOut:
		return dropped, nil
	}
	call, err := r.callOf(ctx, node, e)
	switch {
	case errors.Is(err, protocol.ErrNotFound):
		return dropped, nil
	case err != nil:
		return protocol.Ack{}, retryLater(err)
	case call.Info.SessionKey == "" || isReported(call):
		return dropped, nil
	}
	looks, err := r.o.Calls.OnProcess(ctx, call.Info.SessionKey, call.Info.CallID)
	if err != nil {
		return protocol.Ack{}, retryLater(err)
	}
	// The result of a kill arrives after the end that it caused.
	if slices.ContainsFunc(looks, func(look store.Call) bool { return look.Info.State == protocol.CallRunning }) {
		return protocol.Ack{}, errNotReady
	}
	err = r.post(ctx, call, completion(node, e, call))
	switch {
	case err == nil:
		slog.Info("Background command ended", "node", node, "session", call.Info.SessionKey, "call", call.Info.CallID)
		return protocol.Ack{OK: true}, nil
	case errors.Is(err, protocol.ErrConflict):
		return protocol.Ack{OK: true, Dropped: !r.isAnswer(ctx, call, e.EventID)}, nil // reported before
	case errors.Is(err, protocol.ErrNotFound):
		if r.isWaiting(node, e.SessionID) {
			return protocol.Ack{}, errNotReady // the chat may be created or restored soon
		}
		return dropped, nil
	}
	return protocol.Ack{}, retryLater(err)
}

// isAnswer reports whether the run of a command answers this event, and not another one about it.
func (r *Reports) isAnswer(ctx context.Context, call store.Call, event string) bool {
	run, err := r.o.Runs.Get(ctx, RunOf(call.Info.CallID))
	return err != nil || strings.Contains(run.Params.Message, event)
}

// post posts the end of a command to its chat. It returns protocol.ErrConflict if that was done
// before.
func (r *Reports) post(ctx context.Context, call store.Call, c protocol.ExecCompletion) error {
	chat, run, after := call.Info.SessionKey, RunOf(call.Info.CallID), call.Info.RunID
	if _, err := r.o.Runs.Get(ctx, run); err == nil {
		return protocol.ErrConflict // and Unfollow must not be called for it
	} else if !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	if err := r.o.Channels.Follow(ctx, chat, run, after); err != nil {
		return err
	}
	err := r.o.Chats.PostCompletion(ctx, chat, run, after, call.AskedBy, c)
	if err != nil && !errors.Is(err, protocol.ErrConflict) {
		r.o.Channels.Unfollow(ctx, run)
	}
	return err
}

// retryLater converts an error to one after which the node retains the event, because for example a
// full disk may have space later.
func retryLater(err error) error {
	if errors.Is(err, protocol.ErrUnavailable) {
		return err
	}
	return protocol.ErrUnavailable.With("the event could not be accepted: " + protocol.AsError(err).Message)
}

// callOf returns the call that started a command. It returns protocol.ErrNotFound if none exists,
// and errNotReady if the call may still be in progress.
func (r *Reports) callOf(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (call store.Call, err error) {
	if e.CallID != "" {
		call, err = r.o.Calls.Get(ctx, e.CallID)
		switch {
		case err == nil && call.Info.Node != node:
			return call, protocol.ErrNotFound // a node may only report on its own calls
		case err == nil && !call.Info.Over():
			return call, errNotReady
		case !errors.Is(err, protocol.ErrNotFound):
			return call, err
		}
		// The node may use other call IDs; the command has an ID of its own.
	}
	call, err = r.o.Calls.OfProcess(ctx, node, e.SessionID)
	if !errors.Is(err, protocol.ErrNotFound) {
		return call, err
	}
	open, openErr := r.o.Calls.Open(ctx)
	if openErr != nil {
		return call, openErr
	}
	for _, c := range open {
		if c.Info.Node == node && (c.Info.Effect == protocol.EffectExec || c.Info.Effect == protocol.EffectUnknown) && c.Info.SessionKey != "" &&
			r.isWaiting(node, e.SessionID) {
			return call, errNotReady
		}
	}
	return call, err
}

// isWaiting reports whether a command may continue to wait for its call or chat.
func (r *Reports) isWaiting(node protocol.NodeID, process string) bool {
	key := string(node) + "/" + process
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.early[key].IsZero() {
		if len(r.early) >= maxPending {
			clear(r.early)
		}
		r.early[key] = time.Now()
	}
	return time.Since(r.early[key]) < maxWait
}

// isReported reports whether the result of the call already contains the end of the command.
func isReported(c store.Call) bool {
	var out struct{ Status string }
	if json.Unmarshal(c.ResultJSON, &out) != nil {
		return false
	}
	return out.Status == "completed" || out.Status == "failed"
}

// RunOf derives the ID of the run that answers the end of a command from the call that started it.
func RunOf(call protocol.CallID) protocol.RunID {
	sum := sha256.Sum256([]byte(call))
	return protocol.RunID("exec-" + hex.EncodeToString(sum[:16]))
}

func completion(node protocol.NodeID, e protocol.NodeExecEvent, call store.Call) protocol.ExecCompletion {
	var args struct{ Command string }
	json.Unmarshal(call.Info.Args, &args) // the tool may not be ours, and have other arguments
	return protocol.ExecCompletion{
		EventID: e.EventID, NodeID: node, SessionID: e.SessionID, CallID: call.Info.CallID, Event: e.Event, ExitCode: e.ExitCode,
		Signal: format.Clip(e.Signal, maxWord), OutputTail: tail(e.OutputTail, maxTail), StartedAt: e.StartedAt, EndedAt: e.EndedAt,
		Command: format.Clip(strings.Join(strings.Fields(args.Command), " "), maxWord),
	}
}

// tail returns the last n characters of s.
func tail(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return s
}
