package session

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/archive"
	"fairlead/gateway/session/media"
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
	Run(ctx context.Context, c tool.Call) (tool.Result, error)
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
	Transcribe media.Transcribe
	// StatusChanged is called when a storage error has paused the agents. It may be nil.
	StatusChanged func()
}

// Manager finds the sessions and starts their goroutines. It is safe for concurrent use. Call Load,
// Resume and Close once each.
type Manager struct {
	reader
	opts     Options
	archives *archive.Archives
	media    *media.Store
	pause    *pause
	memories *memories

	ctx    context.Context // cancelled by Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	sessions map[protocol.SessionKey]*session
	closed   bool
	mainName string // session.mainKey at the last check
}

// New returns a manager without sessions.
func New(o Options) *Manager {
	ctx, cancel := context.WithCancelCause(context.Background())
	m := &Manager{
		opts: o, ctx: ctx, cancel: cancel, sessions: make(map[protocol.SessionKey]*session), mainName: o.Config().Session.MainName(),
		archives: archive.New(o.Home, o.Store), media: media.New(o.Home, o.Store.Media, o.Transcribe), pause: &pause{bus: o.Bus, changed: o.StatusChanged},
	}
	m.reader = reader{
		store: o.Store, bus: o.Bus, settings: settings{o.Config}, ctx: ctx, activity: m.activity,
		runs: &runs{m: m, byID: make(map[protocol.RunID]*run), reserved: make(map[protocol.RunID]bool)},
	}
	m.memories = &memories{ctx: ctx, store: o.Store, settings: m.settings, models: o.Models, files: o.Files, wg: &m.wg, slot: make(chan struct{}, 1)}
	return m
}

func now() int64 { return time.Now().UnixMilli() }

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

// all returns the sessions that have a goroutine.
func (m *Manager) all() []*session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.sessions))
}

// activity reports whether a run of a chat is in progress and how many wait.
func (m *Manager) activity(ctx context.Context, key protocol.SessionKey) (busy bool, queued int, err error) {
	m.mu.Lock()
	s := m.sessions[key]
	m.mu.Unlock()
	if s == nil { // without a goroutine, it has no runs and no queue
		return false, 0, nil
	}
	err = m.do(ctx, key, func(s *session) { busy, queued = s.run != nil, len(s.queue) })
	return busy, queued, err
}

// do runs f on the session's goroutine and waits for it.
func (m *Manager) do(ctx context.Context, key protocol.SessionKey, f func(*session)) error {
	s := m.get(key)
	if s == nil {
		return errStopping
	}
	done := make(chan struct{})
	select {
	case s.inbox <- func() { defer close(done); f(s) }:
	case <-m.ctx.Done():
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-m.ctx.Done():
		return errStopping
	}
}

var errStopping = protocol.ErrUnavailable.With("the gateway is stopping")

// Load registers the runs that an earlier start left, before any client is served: they are visible
// from here on, and new messages of their sessions queue behind them.
func (m *Manager) Load(ctx context.Context) error {
	rows, err := m.store.Runs.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := m.do(ctx, row.Session, func(s *session) { s.load(row) }); err != nil {
			return err
		}
	}
	return nil
}

// Resume continues the runs that Load has registered: started runs continue, queued messages stay
// queued, pending approvals are asked again. It also starts the permanent removal of deleted chats.
func (m *Manager) Resume(ctx context.Context) error {
	for _, s := range m.all() {
		if err := m.do(ctx, s.key, (*session).resume); err != nil {
			return err
		}
	}
	m.wg.Go(func() { m.archives.WriteMissingFiles(m.ctx) })
	m.wg.Go(m.purgeDeleted)
	return nil
}

// OpenRun reports whether a run is known and has not ended. Approvals of other runs are orphans.
func (m *Manager) OpenRun(id protocol.RunID) bool { return m.runs.get(id) != nil }

// Close stops all runs, so that the next start can resume them, and waits for them.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel(approval.ErrSuspended)
	m.wg.Wait()
}
