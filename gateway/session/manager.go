package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/dispatch"
	"fairlead/gateway/event"
	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// Models opens models.
type Models interface {
	Open(ctx context.Context, ref protocol.ModelRef) (llm.Model, protocol.ModelInfo, error)
}

// Tools runs calls.
type Tools interface {
	Call(ctx context.Context, p auth.Principal, c dispatch.Call) (dispatch.Result, error)
	Tools() []protocol.ToolSpec
}

// Questions asks the person.
type Questions interface {
	Ask(ctx context.Context, a protocol.Approval, limit time.Duration) (protocol.Approval, error)
	Answer(ctx context.Context, by string, p protocol.ApprovalAnswerParams) (protocol.ApprovalAnswerResult, error)
	Pending(ctx context.Context) ([]protocol.Approval, error)
}

// Options are what a manager needs. All fields are required.
type Options struct {
	Store     *store.Store
	Bus       *event.Bus
	Tools     Tools
	Questions Questions
	Models    Models
	Workspace *workspace.Workspace
	Nodes     func() []protocol.NodeInfo
	Config    func() config.Config
	Home      string // data folder
}

// Manager holds all sessions. It is safe for use by many goroutines.
type Manager struct {
	opts  Options
	store *store.Store
	bus   *event.Bus

	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu       sync.Mutex // guards what follows
	sessions map[protocol.SessionKey]*session
	live     map[protocol.RunID]*live
	paused   bool
	resumed  chan struct{} // closed when the pause ends
	storage  string        // why nothing can be stored, empty when all is well
	closed   bool
}

// New makes a manager. Resume starts it.
func New(o Options) *Manager {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Manager{opts: o, store: o.Store, bus: o.Bus, ctx: ctx, cancel: cancel,
		sessions: make(map[protocol.SessionKey]*session), live: make(map[protocol.RunID]*live), resumed: make(chan struct{})}
}

func (m *Manager) now() int64 { return time.Now().UnixMilli() }

// get returns the session's goroutine, started on demand; nil once the manager is closed.
func (m *Manager) get(key protocol.SessionKey) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	s := m.sessions[key]
	if s == nil {
		s = &session{m: m, key: key, inbox: make(chan func(), 16)}
		m.sessions[key] = s
		m.wg.Go(s.loop)
	}
	return s
}

// do runs f on the session's goroutine and waits for it.
func (m *Manager) do(ctx context.Context, key protocol.SessionKey, f func(*session)) error {
	s := m.get(key)
	if s == nil {
		return protocol.ErrUnavailable.With("the gateway stops")
	}
	done := make(chan struct{})
	select {
	case s.inbox <- func() { defer close(done); f(s) }:
	case <-m.ctx.Done():
		return protocol.ErrUnavailable.With("the gateway stops")
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-m.ctx.Done():
		return protocol.ErrUnavailable.With("the gateway stops")
	}
}

// Send takes a message. When it returns without error, the message is stored or was a command.
func (m *Manager) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	in.SessionKey = m.Canonical(in.SessionKey)
	if strings.TrimSpace(in.Message) == "" && len(in.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if in.RunID == "" {
		in.RunID = protocol.RunID(protocol.NewID())
	} else if _, err := m.store.Run(ctx, in.RunID); err == nil {
		return protocol.ChatSendResult{}, protocol.ErrConflict.With(fmt.Sprintf("a run with the id %s exists already", in.RunID))
	}
	// What an agent or a schedule writes into a chat is text: it never commands, and never answers for the person.
	if p.Kind == auth.KindOwner {
		if command, ok := strings.CutPrefix(strings.TrimSpace(in.Message), "!"); ok && strings.TrimSpace(command) != "" {
			return m.direct(ctx, p, in, strings.TrimSpace(command))
		}
		if res, ok := m.command(ctx, in.SessionKey, in.Message); ok {
			return res, nil
		}
		if res, ok, err := m.answerQuestion(ctx, p, in); ok || err != nil {
			return res, err
		}
	}
	text, d := m.directives(in.Message)
	if d != nil && text == "" && len(in.Attachments) == 0 {
		return protocol.ChatSendResult{Status: protocol.ChatDirectiveOnly, Directives: d,
			Response: "Nothing was sent: the settings in a message hold for that message. /model and /think set them for the chat."}, nil
	}
	images, err := m.storeImages(in.Attachments)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	in.Attachments = nil
	run := store.Run{ID: in.RunID, Session: in.SessionKey, Params: in, Images: images, Principal: p.String(), CreatedAt: m.now()}
	var queued bool
	if doErr := m.do(context.WithoutCancel(ctx), in.SessionKey, func(s *session) { queued, err = s.accept(run) }); doErr != nil {
		return protocol.ChatSendResult{}, doErr
	}
	if err != nil {
		return protocol.ChatSendResult{}, m.stored(err)
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: run.ID, Queued: queued, Directives: d}, nil
}

// answerQuestion takes a plain yes or no as the answer to the session's open question.
func (m *Manager) answerQuestion(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (res protocol.ChatSendResult, ok bool, err error) {
	allow, reason, isAnswer := decision(in.Message)
	if !isAnswer || len(in.Attachments) > 0 {
		return res, false, nil
	}
	pending, err := m.opts.Questions.Pending(ctx)
	if err != nil {
		return res, false, err
	}
	for _, a := range pending {
		if a.SessionKey != in.SessionKey {
			continue
		}
		answer := protocol.ApprovalAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionDeny, Reason: reason}
		word := "denied"
		if allow {
			answer.Decision, answer.Scope, word = protocol.DecisionAllow, protocol.ScopeOnce, "approved"
		}
		end, err := m.opts.Questions.Answer(ctx, p.String(), answer)
		if err != nil {
			return res, false, err
		}
		if !end.Won {
			continue // it has ended meanwhile; the word is for another question, or a message
		}
		return protocol.ChatSendResult{Status: protocol.ChatPaused, RunID: a.RunID, ApprovalID: a.ID,
			Response: response(a, word)}, true, nil
	}
	return res, false, nil
}

func response(a protocol.Approval, word string) string {
	switch {
	case a.Kind != protocol.AskContinue:
		return fmt.Sprintf("The call was %s; the run goes on.", word)
	case word == "denied":
		return "The run ends."
	}
	return "The run goes on."
}

// Cancel stops the run in progress, or takes a message out of the queue.
func (m *Manager) Cancel(ctx context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error) {
	var res protocol.ChatCancelResult
	var err error
	doErr := m.do(ctx, m.Canonical(in.SessionKey), func(s *session) { res, err = s.stop(in.RunID) })
	if doErr != nil {
		return res, doErr
	}
	return res, err
}

// SetPaused pauses or resumes: while paused, steps that run come to their end and nothing new starts.
func (m *Manager) SetPaused(paused bool) {
	m.mu.Lock()
	if m.paused == paused {
		m.mu.Unlock()
		return
	}
	m.paused = paused
	if paused {
		m.resumed = make(chan struct{})
	} else {
		m.storage = ""
		close(m.resumed)
	}
	var all []*session
	for _, s := range m.sessions {
		all = append(all, s)
	}
	m.mu.Unlock()
	if !paused {
		for _, s := range all {
			select {
			case s.inbox <- s.next:
			case <-m.ctx.Done():
			}
		}
	}
}

// Paused reports whether the agent is paused, and why nothing can be stored, if so.
func (m *Manager) Paused() (paused bool, storage string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paused, m.storage
}

// ready blocks while the agent is paused.
func (m *Manager) ready(ctx context.Context) error {
	for {
		m.mu.Lock()
		paused, resumed := m.paused, m.resumed
		m.mu.Unlock()
		if !paused {
			return context.Cause(ctx)
		}
		select {
		case <-resumed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stored looks at an error of the store: when the disk refuses, the agent pauses and everyone is told.
func (m *Manager) stored(err error) error {
	if !errors.Is(err, protocol.ErrStorage) {
		return err
	}
	var e *protocol.Error
	errors.As(err, &e)
	m.mu.Lock()
	first := m.storage == ""
	m.storage = e.Message
	m.mu.Unlock()
	m.SetPaused(true)
	if first {
		slog.Error("Nothing can be stored, the agent pauses", "err", err)
		m.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{Level: "error", At: m.now(),
			Text: e.Message + " The agent is paused; resume it when that is mended."}})
	}
	return err
}

// Load notes what an earlier start left, before anybody is served: from here on everyone sees those runs, and new messages of their
// sessions wait behind them.
func (m *Manager) Load(ctx context.Context) error {
	runs, err := m.store.OpenRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := m.do(ctx, r.Session, func(s *session) { s.load(r) }); err != nil {
			return err
		}
	}
	return nil
}

// Resume takes up what Load has noted: runs that had begun go on, messages that waited wait again, questions are asked again. It also
// begins to remove deleted chats for good.
func (m *Manager) Resume(ctx context.Context) error {
	m.mu.Lock()
	keys := slices.Collect(maps.Keys(m.sessions))
	m.mu.Unlock()
	for _, key := range keys {
		if err := m.do(ctx, key, (*session).resume); err != nil {
			return err
		}
	}
	m.wg.Go(m.purge)
	return nil
}

// OpenRun reports whether a run is known and not over; questions of others are orphans.
func (m *Manager) OpenRun(id protocol.RunID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live[id] != nil
}

// purge removes deleted chats when their time for undo is over.
func (m *Manager) purge() {
	tick := time.NewTicker(30 * time.Second)
	defer tick.Stop()
	for {
		if _, err := m.store.PurgeDeleted(m.ctx, m.now()-protocol.UndoMillis); err != nil && m.ctx.Err() == nil {
			slog.Warn("Deleted chats could not be removed", "err", err)
		}
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
	}
}

// Close stops every run so that the next start can take it up, and waits for them.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel(approval.ErrSuspended)
	m.wg.Wait()
}
