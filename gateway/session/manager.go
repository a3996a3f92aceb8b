package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// Models opens models.
type Models interface {
	Open(ctx context.Context, ref protocol.ModelRef) (llm.Model, protocol.ModelInfo, error)
}

// Options configure a manager. All fields except Transcribe and StatusChanged are required.
type Options struct {
	Store     *store.DB
	Bus       *event.Bus
	Tools     *tool.Pipeline
	Questions *approval.Manager
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

// Manager creates, changes and deletes chats and accepts their messages. It is safe for concurrent
// use. Call Load, Resume and Close once each.
type Manager struct {
	*reader
	*sessions
	*history
	opts     Options
	media    *media.Store
	sending  sync.Map        // the IDs of messages that are being processed
	resumed  atomic.Bool     // Resume was called
	mainName atomic.Value    // a string: session.mainKey at the last check
	ctx      context.Context // cancelled by Close
	cancel   context.CancelCauseFunc
}

// New returns a manager without sessions.
func New(o Options) *Manager {
	ctx, cancel := context.WithCancelCause(context.Background())
	m := &Manager{opts: o, ctx: ctx, cancel: cancel, media: media.New(o.Home, o.Store.Media, o.Transcribe)}
	m.mainName.Store(o.Config().Session.MainName())
	m.reader = &reader{
		store: o.Store, bus: o.Bus, settings: settings{o.Config}, runs: &runs{m: m, byID: make(map[protocol.RunID]*run)},
	}
	m.sessions = &sessions{
		m: m, pause: &pause{bus: o.Bus, changed: o.StatusChanged}, byKey: make(map[protocol.SessionKey]*session),
	}
	m.history = &history{reader: m.reader, sessions: m.sessions, home: o.Home, models: o.Models, files: o.Files}
	return m
}

func now() int64 { return time.Now().UnixMilli() }

// Stats returns a chat's counters.
func (m *Manager) Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error) {
	s, err := m.peek(ctx, in.SessionKey)
	if err != nil {
		return protocol.SessionStats{}, err
	}
	out := protocol.SessionStats{
		SessionKey: s.Key, SessionID: s.ID, MessageCount: s.MessageCount, Tokens: tokens(s.Usage), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		Uptime: now() - s.CreatedAt, Cost: s.Usage.Cost,
	}
	m.mu.Lock()
	active := m.byKey[s.Key] != nil // otherwise it has no runs and no queue
	m.mu.Unlock()
	if active {
		err = m.do(s.Key, func(s *session) { out.IsProcessing, out.QueueSize = s.run != nil, len(s.queue) })
	}
	return out, err
}

// Load registers the runs that an earlier start left, before any client is served: new messages of
// their sessions queue behind them.
func (m *Manager) Load(ctx context.Context) error {
	rows, err := m.store.Runs.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := m.do(row.Session, func(s *session) {
			s.lastCreatedAt, s.hasEarlierRuns = max(s.lastCreatedAt, row.CreatedAt), true
			s.queue.add(row)
			m.runs.track(row).publish()
		}); err != nil {
			return err
		}
	}
	return nil
}

// Resume lets runs start, beginning with those that Load has registered: started runs continue, and
// pending approvals are asked again. It also starts the permanent removal of deleted chats.
func (m *Manager) Resume() {
	m.resumed.Store(true)
	m.startNext()
	m.wg.Go(func() { m.writeMissingArchives(m.ctx) })
	m.wg.Go(m.purgeDeleted)
}

// Close stops all runs, so that the next start can resume them, and waits for them.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel(tool.ErrSuspended)
	m.wg.Wait()
}
