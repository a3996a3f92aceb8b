package session

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// Models opens models.
type Models interface {
	Open(ctx context.Context, ref protocol.ModelRef) (llm.Model, protocol.ModelInfo, error)
}

// Tools runs calls.
type Tools interface {
	Call(ctx context.Context, p auth.Principal, c tool.Call) (tool.Result, error)
	Tools() []protocol.ToolSpec
}

// Questions asks the person for approvals.
type Questions interface {
	Ask(ctx context.Context, a protocol.Approval, limit time.Duration, put func()) (protocol.Approval, error)
	Answer(ctx context.Context, by string, p protocol.ApprovalAnswerParams) (protocol.ApprovalAnswerResult, error)
	Pending(ctx context.Context) ([]protocol.Approval, error)
}

// Options configure a manager. All fields except Transcribe and StatusChanged are required.
type Options struct {
	Store     *store.DB
	Bus       *event.Bus
	Tools     Tools
	Questions Questions
	Models    Models
	Files     *workspace.Files // of all agents
	Nodes     func() []protocol.NodeInfo
	Config    func() config.Config
	Home      string // the data folder
	// Transcribe may be nil: then recordings are stored but not transcribed.
	Transcribe Transcribe
	// StatusChanged is called when the agent was paused because of a storage error. It may be nil.
	StatusChanged func()
}

// Manager owns all sessions. It is safe for concurrent use.
type Manager struct {
	opts  Options
	store *store.DB
	bus   *event.Bus

	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	sessions map[protocol.SessionKey]*session
	live     map[protocol.RunID]*live
	claimed  map[protocol.RunID]bool // run IDs claimed by messages that are being processed
	paused   bool
	resumed  chan struct{} // closed when the pause ends
	storage  string        // the storage error, or empty
	closed   bool
	mainName string // session.mainKey at the last check

	noting chan struct{} // semaphore: one chat at a time is scanned for memories

	media sync.Mutex     // guards kept, and the removal of files; a leaf lock
	kept  map[string]int // files that a message being processed will refer to, with their count
}

// New returns a manager. Call Load, then Resume to start it.
func New(o Options) *Manager {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Manager{
		opts: o, mainName: o.Config().Session.MainName(), store: o.Store, bus: o.Bus, ctx: ctx, cancel: cancel,
		sessions: make(map[protocol.SessionKey]*session), live: make(map[protocol.RunID]*live), claimed: make(map[protocol.RunID]bool), resumed: make(chan struct{}), kept: make(map[string]int), noting: make(chan struct{}, 1),
	}
}

func (m *Manager) now() int64 { return time.Now().UnixMilli() }

// get returns a session and starts its goroutine if needed. It returns nil when the manager is
// closed.
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

// awake reports whether a session has a goroutine. Without one, it has no runs and no queue.
func (m *Manager) awake(key protocol.SessionKey) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[key] != nil
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

// Load registers the runs that an earlier start left, before any client is served: they are visible
// from here on, and new messages of their sessions queue behind them.
func (m *Manager) Load(ctx context.Context) error {
	runs, err := m.store.Runs.Unfinished(ctx)
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

// Resume continues the runs that Load has registered: started runs continue, queued messages stay
// queued, pending approvals are asked again. It also starts the permanent removal of deleted chats.
func (m *Manager) Resume(ctx context.Context) error {
	m.mu.Lock()
	keys := slices.Collect(maps.Keys(m.sessions))
	m.mu.Unlock()
	for _, key := range keys {
		if err := m.do(ctx, key, (*session).resume); err != nil {
			return err
		}
	}
	m.wg.Go(func() { m.finishArchives(m.ctx) })
	m.wg.Go(m.purge)
	return nil
}

// OpenRun reports whether a run is known and has not ended. Approvals of other runs are orphans.
func (m *Manager) OpenRun(id protocol.RunID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live[id] != nil
}

// Close stops all runs, so that the next start can resume them, and waits for them.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel(approval.ErrSuspended)
	m.wg.Wait()
}
