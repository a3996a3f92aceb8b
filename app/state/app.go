package state

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// View is the whole gateway as the windows see it. Its slices must not be changed.
type View struct {
	Connected bool
	// Problem is why there is no connection, empty while there is one or it is being made for the first time.
	Problem   string
	Loaded    bool // a first snapshot has arrived
	Status    protocol.Status
	Sessions  []protocol.SessionEntry // newest activity first
	Nodes     []protocol.NodeInfo     // online first, then by name
	Approvals []protocol.Approval     // open, oldest first
	Runs      []protocol.RunInfo      // not over, and the last failed one of each chat
	Calls     []protocol.CallInfo
	Notice    *protocol.Notice // the last one
	// Closed are questions that ended lately, for the windows that showed them.
	Closed []protocol.Approval
}

// maxClosed is how many ended questions are remembered.
const maxClosed = 32

// Working reports whether something runs.
func (v View) Working() bool {
	for _, r := range v.Runs {
		if !r.Over() && r.State != protocol.RunQueued {
			return true
		}
	}
	return false
}

// Session finds a chat.
func (v View) Session(key protocol.SessionKey) (protocol.SessionEntry, bool) {
	for _, s := range v.Sessions {
		if s.SessionKey == key {
			return s, true
		}
	}
	return protocol.SessionEntry{}, false
}

// App is the root of the view-models. Its methods are safe for use by many goroutines.
type App struct {
	Value *Value[View]
	// Config is told the path of every change of the configuration; it may be nil. It is called on the feed's goroutine.
	OnConfig func(path string)

	c *client.Client

	mu    sync.Mutex // guards chats
	chats map[protocol.SessionKey]*Chat
}

// NewApp makes the view-models of a gateway. Run brings them to life. Connected and Down must be called by the client's OnUp and
// OnDown.
func NewApp() *App {
	return &App{Value: NewValue(View{}), chats: make(map[protocol.SessionKey]*Chat)}
}

// Use gives the client to speak through; it must be called before anything else.
func (a *App) Use(c *client.Client) { a.c = c }

// Connected notes that the gateway answers.
func (a *App) Connected() {
	a.Value.Update(func(v View) View { v.Connected, v.Problem = true, ""; return v })
}

// Down notes that it does not, and why.
func (a *App) Down(err error) {
	a.Value.Update(func(v View) View {
		v.Connected = false
		v.Problem = err.Error()
		var final *client.FinalError
		if errors.As(err, &final) && errors.Is(err, protocol.ErrUnauthorized) {
			v.Problem = "The gateway refused this computer's token. Paste the right one in Settings."
		}
		return v
	})
}

// Run follows the gateway until ctx ends.
func (a *App) Run(ctx context.Context) error { return a.c.Feed(ctx, a.snapshot, a.apply) }

func (a *App) snapshot(s protocol.FeedSnapshot) {
	a.Value.Update(func(v View) View {
		v.Loaded, v.Status, v.Sessions, v.Nodes, v.Approvals = true, s.Status, s.Sessions, s.Nodes, s.Approvals
		v.Runs, v.Calls = s.Runs, s.Calls
		return v
	})
	for _, c := range a.open() {
		c.reload()
	}
}

func (a *App) open() []*Chat {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*Chat, 0, len(a.chats))
	for _, c := range a.chats {
		list = append(list, c)
	}
	return list
}

// put replaces the element that same finds, or adds x; the list is a new one.
func put[T any](list []T, x T, same func(T) bool) []T {
	out := slices.Clone(list)
	if i := slices.IndexFunc(out, same); i >= 0 {
		out[i] = x
		return out
	}
	return append(out, x)
}

func drop[T any](list []T, gone func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), gone)
}

// apply takes one change in.
func (a *App) apply(c protocol.Change) {
	switch c.Kind {
	case protocol.ChangeMessage, protocol.ChangeHistory:
		a.mu.Lock()
		chat := a.chats[c.SessionKey]
		a.mu.Unlock()
		if chat != nil {
			chat.apply(c)
		}
	case protocol.ChangeConfig:
		if a.OnConfig != nil {
			a.OnConfig(c.Path)
		}
	}
	a.Value.Update(func(v View) View { return reduce(v, c) })
}

// reduce is the view after a change.
func reduce(v View, c protocol.Change) View {
	switch c.Kind {
	case protocol.ChangeSession:
		v.Sessions = put(v.Sessions, *c.Session, func(s protocol.SessionEntry) bool { return s.SessionKey == c.Session.SessionKey })
		slices.SortStableFunc(v.Sessions, func(a, b protocol.SessionEntry) int { return cmp.Compare(b.LastActiveAt, a.LastActiveAt) })
	case protocol.ChangeSessionDeleted:
		v.Sessions = drop(v.Sessions, func(s protocol.SessionEntry) bool { return s.SessionKey == c.SessionKey })
	case protocol.ChangeRun:
		v.Runs = reduceRun(v.Runs, *c.Run)
	case protocol.ChangeDelta:
		v.Runs = reduceDelta(v.Runs, *c.Delta)
	case protocol.ChangeMessage:
		v = reduceMessage(v, *c.Message)
	case protocol.ChangeCall:
		v.Calls = put(v.Calls, *c.Call, func(x protocol.CallInfo) bool { return x.CallID == c.Call.CallID })
		if c.Call.Over() && c.Call.ToolCallID == "" { // no message will follow
			v.Calls = drop(v.Calls, func(x protocol.CallInfo) bool { return x.CallID == c.Call.CallID })
		}
	case protocol.ChangeApproval:
		same := func(x protocol.Approval) bool { return x.ID == c.Approval.ID }
		if c.Approval.State == protocol.ApprovalPending {
			v.Approvals = put(v.Approvals, *c.Approval, same)
			slices.SortStableFunc(v.Approvals, func(a, b protocol.Approval) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
		} else {
			v.Approvals = drop(v.Approvals, same)
			v.Closed = append(drop(v.Closed, same), *c.Approval)
			v.Closed = v.Closed[max(0, len(v.Closed)-maxClosed):]
		}
	case protocol.ChangeNode:
		v.Nodes = put(v.Nodes, *c.Node, func(n protocol.NodeInfo) bool { return n.ID == c.Node.ID })
		slices.SortStableFunc(v.Nodes, func(a, b protocol.NodeInfo) int {
			if a.Online != b.Online {
				if a.Online {
					return -1
				}
				return 1
			}
			return strings.Compare(string(a.ID), string(b.ID))
		})
	case protocol.ChangeStatus:
		v.Status = *c.Status
	case protocol.ChangeNotice:
		v.Notice = c.Notice
	}
	return v
}

// reduceRun takes a run's state in. The text that deltas brought stays until its step is over.
func reduceRun(runs []protocol.RunInfo, r protocol.RunInfo) []protocol.RunInfo {
	for _, old := range runs {
		if old.RunID == r.RunID && old.Step == r.Step && !r.Over() {
			r.Text, r.Thinking = old.Text, old.Thinking
		}
	}
	if r.Over() && r.State != protocol.RunFailed {
		return drop(runs, func(x protocol.RunInfo) bool { return x.RunID == r.RunID })
	}
	if r.State != protocol.RunQueued { // a new run takes the place of an old failure
		runs = drop(runs, func(x protocol.RunInfo) bool {
			return x.SessionKey == r.SessionKey && x.State == protocol.RunFailed && x.RunID != r.RunID
		})
	}
	return put(runs, r, func(x protocol.RunInfo) bool { return x.RunID == r.RunID })
}

func reduceDelta(runs []protocol.RunInfo, d protocol.Delta) []protocol.RunInfo {
	i := slices.IndexFunc(runs, func(r protocol.RunInfo) bool { return r.RunID == d.RunID })
	if i < 0 {
		return runs
	}
	r := runs[i]
	if d.Step != r.Step {
		if d.Step < r.Step {
			return runs
		}
		r.Step, r.Text, r.Thinking = d.Step, "", ""
	}
	text := &r.Text
	if d.Thinking {
		text = &r.Thinking
	}
	skip := len(*text) - d.Offset
	if skip < 0 || skip >= len(d.Text) {
		return runs // a piece is missing (the message will bring it), or all of it is there
	}
	*text += d.Text[skip:]
	out := slices.Clone(runs)
	out[i] = r
	return out
}

// reduceMessage takes away what a stored message repeats: the streamed text, and the calls that have their results.
func reduceMessage(v View, m protocol.Message) View {
	switch m.Role {
	case protocol.RoleAssistant:
		if i := slices.IndexFunc(v.Runs, func(r protocol.RunInfo) bool { return r.RunID == m.RunID }); i >= 0 && m.Origin == protocol.OriginPerson {
			v.Runs = slices.Clone(v.Runs)
			v.Runs[i].Text, v.Runs[i].Thinking = "", ""
		}
	case protocol.RoleToolResult:
		v.Calls = drop(v.Calls, func(c protocol.CallInfo) bool { return c.RunID == m.RunID && c.ToolCallID == m.ToolCallID })
	}
	return v
}

// rpcLimit is how long an action may take before it counts as failed.
const rpcLimit = 30 * time.Second

// act runs an action off the caller's goroutine; a failure becomes a notice.
func act[P, R any](a *App, m protocol.Method[P, R], p P, then func(R)) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), rpcLimit)
		defer cancel()
		r, err := client.Call(ctx, a.c, m, p)
		if err != nil {
			a.Notify("error", err.Error())
			return
		}
		if then != nil {
			then(r)
		}
	}()
}

// Notify shows the person something.
func (a *App) Notify(level, text string) {
	a.Value.Update(func(v View) View {
		v.Notice = &protocol.Notice{Level: level, Text: text, At: time.Now().UnixMilli()}
		return v
	})
}

// Call runs a method and waits; for the windows' own forms, through bind.Go.
func Call[P, R any](ctx context.Context, a *App, m protocol.Method[P, R], p P) (R, error) {
	return client.Call(ctx, a.c, m, p)
}

// NewChat makes an empty chat and tells its key.
func (a *App) NewChat(then func(protocol.SessionKey)) {
	act(a, protocol.SessionCreate, protocol.SessionCreateParams{}, func(e protocol.SessionEntry) { then(e.SessionKey) })
}

// Rename gives a chat another title; empty is the beginning of its first message again.
func (a *App) Rename(key protocol.SessionKey, title string) {
	act(a, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Label: &title}, nil)
}

// Delete removes a chat and tells until when Restore brings it back.
func (a *App) Delete(key protocol.SessionKey, then func(until time.Time)) {
	act(a, protocol.SessionDelete, protocol.SessionParams{SessionKey: key}, func(r protocol.SessionDeleteResult) { then(time.UnixMilli(r.UndoUntil)) })
}

// Restore brings a deleted chat back.
func (a *App) Restore(key protocol.SessionKey) {
	act(a, protocol.SessionRestore, protocol.SessionParams{SessionKey: key}, nil)
}

// Reset begins a chat afresh.
func (a *App) Reset(key protocol.SessionKey) {
	act(a, protocol.SessionReset, protocol.SessionParams{SessionKey: key}, nil)
}

// Pause pauses or resumes the agent.
func (a *App) Pause(paused bool) {
	act(a, protocol.AgentPause, protocol.PauseParams{Paused: paused}, nil)
}

// Answer answers a question.
func (a *App) Answer(q protocol.Approval, decision, scope, reason string) {
	act(a, protocol.ApprovalAnswer, protocol.ApprovalAnswerParams{ID: q.ID, Hash: q.Hash, Decision: decision, Scope: scope, Reason: reason}, nil)
}

// Shown tells the gateway that a question is on the screen.
func (a *App) Shown(id protocol.ApprovalID) {
	act(a, protocol.ApprovalShown, protocol.ApprovalParams{ID: id}, nil)
}

// Search finds chats by title or text.
func (a *App) Search(ctx context.Context, query string) ([]protocol.SessionEntry, error) {
	r, err := client.Call(ctx, a.c, protocol.SessionsList, protocol.SessionsListParams{Query: query, Limit: 50})
	return r.Sessions, err
}

// Set changes the configuration; nil resets.
func (a *App) Set(ctx context.Context, path string, value any) error {
	raw, err := protocol.Marshal(value)
	if err != nil {
		return err
	}
	_, err = client.Call(ctx, a.c, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: raw})
	return err
}
