// Package session manages conversations. One goroutine per session owns its queue and its run;
// callers send functions to it and wait. A run is a child goroutine that reports its end to the
// session's goroutine. So cancelling a queued or starting run and sending a message during a run
// are handled in order of arrival.
//
// [Manager] finds the sessions. session.go orders, starts and ends the runs of one session, stop.go
// stops them, run.go executes one and sink.go publishes its events. What only lists and reads chats
// is in reader.go.
//
// A message is stored before chat.send acknowledges it. While a run is active, further messages
// wait in a queue, each as a run of its own with its own terminal event; GSV injects them into the
// running turn and never answers them. While an approval is pending, a message that is exactly yes
// or no answers it, as clients of GSV expect. Any other message waits in the queue, while GSV drops
// it.
//
// A message that begins with "!" is the person's own command. It runs at once, in parallel to other
// runs.
package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// Models opens models.
type Models interface {
	Open(ctx context.Context, ref protocol.ModelRef) (llm.Model, protocol.ModelInfo, error)
}

// Budget limits what models may cost.
type Budget interface {
	// Check fails when the budget for a model is used up.
	Check(ctx context.Context, info protocol.ModelInfo) error
}

// Options configure a manager. All fields except Transcribe and StatusChanged are required.
type Options struct {
	Store     *store.DB
	Bus       *event.Bus
	Tools     *tool.Pipeline
	Questions *question.Queue
	Models    Models
	Budget    Budget
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
	m.history = &history{reader: m.reader, sessions: m.sessions, home: o.Home, files: o.Files, tasks: modelTasks{o.Models, o.Budget, o.Store.Usage, settings{o.Config}}}
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
	return out, m.do(s.Key, func(s *session) { out.IsProcessing, out.QueueSize = s.run != nil, len(s.queue) })
}

// Load registers the runs that an earlier start left, before any client is served: new messages of
// their sessions queue behind them.
func (m *Manager) Load(ctx context.Context) error {
	rows, err := m.store.Runs.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.State == protocol.RunCancelled { // it was stopped, and its end was not stored
			m.runs.track(row).finish(errCancelled)
			continue
		}
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
// pending approvals are asked again. It also starts the permanent removal of deleted chats and
// messages.
func (m *Manager) Resume() {
	m.resumed.Store(true)
	m.startNext()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed { // Close waits already
		return
	}
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

// Create creates an empty chat.
func (m *Manager) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	key := m.Canonical(cmp.Or(in.SessionKey, newKey(m.opts.Config().Agents.Default())))
	if _, err := m.store.Sessions.Ensure(ctx, key, now()); err != nil {
		return protocol.SessionEntry{}, m.pause.onStoreError(err)
	}
	s, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) {
		if in.Label != "" {
			s.Label = in.Label
		}
		s.DeletedAt = 0
	})
	if err != nil {
		return protocol.SessionEntry{}, m.pause.onStoreError(err)
	}
	m.publishSession(key)
	return m.entry(s), nil
}

// Delete removes a chat. Restore can undo that for ten seconds.
func (m *Manager) Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Get(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	if err := m.stopAndBlock(ctx, key); err != nil {
		return protocol.SessionDeleteResult{}, err
	}
	defer m.unblock(key)
	at := now()
	if _, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = at }); err != nil {
		return protocol.SessionDeleteResult{}, m.pause.onStoreError(err)
	}
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: key})
	return protocol.SessionDeleteResult{OK: true, UndoUntil: at + protocol.UndoMillis}, nil
}

// Restore undoes the deletion of a chat.
func (m *Manager) Restore(ctx context.Context, in protocol.SessionParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if _, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { s.DeletedAt = 0 }); err != nil {
		if errors.Is(err, protocol.ErrNotFound) {
			err = protocol.ErrNotFound.With("The chat can no longer be restored.")
		}
		return protocol.OK{}, err
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// purgeInterval is the interval at which deleted chats and messages are removed permanently.
const purgeInterval = 30 * time.Second

// purgeDeleted permanently removes deleted chats and messages whose time for undo has passed, with
// their files.
func (m *Manager) purgeDeleted() {
	m.removeUnusedFiles(m.ctx)
	for {
		n, err := m.store.Sessions.PurgeDeleted(m.ctx, now()-protocol.UndoMillis)
		if err != nil && m.ctx.Err() == nil {
			slog.Warn("Removing deleted chats failed", "err", err)
		}
		messages, err := m.store.Archives.PurgeDeletions(m.ctx, now()-protocol.UndoMillis)
		if err != nil && m.ctx.Err() == nil {
			slog.Warn("Removing deleted messages failed", "err", err)
		}
		if n+messages > 0 {
			m.removeUnusedFiles(m.ctx)
		}
		select {
		case <-time.After(purgeInterval):
		case <-m.ctx.Done():
			return
		}
	}
}

// removeUnusedFiles removes media and archive files that no chat refers to.
func (m *Manager) removeUnusedFiles(ctx context.Context) {
	if err := errors.Join(m.media.RemoveUnused(ctx), m.removeUnusedArchives(ctx)); err != nil && ctx.Err() == nil {
		slog.Warn("Removing files of deleted chats failed", "err", err)
	}
}

// Media returns a stored picture or recording.
func (m *Manager) Media(_ context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error) {
	return m.media.Get(in.Key)
}

// Patch changes a chat's settings, label and reset policy; fields that are not set stay unchanged.
func (m *Manager) Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if err := checkSettings(in.Settings, m.opts.Nodes); err != nil {
		return protocol.OK{}, err
	}
	if _, err := m.store.Sessions.Ensure(ctx, key, now()); err != nil {
		return protocol.OK{}, err
	}
	var lines []protocol.AuditEntry
	if in.Settings != nil && in.Settings.Approvals != nil {
		mode := in.Settings.Approvals
		line := protocol.AuditEntry{At: now(), Kind: protocol.AuditMode, By: cmp.Or(in.By, "person"), SessionKey: key, What: mode.Mode}
		if mode.Until > 0 {
			line.What += " until " + time.UnixMilli(mode.Until).Format(time.RFC3339)
		}
		lines = append(lines, line)
	}
	current, err := m.store.Sessions.Get(ctx, key)
	if err == nil { // checked first, because the audit log must not contain a change that is refused
		err = m.settings.patch(&current, in)
	}
	if err != nil {
		return protocol.OK{}, err
	}
	var invalid error
	_, err = m.store.Sessions.Update(ctx, key, func(s *store.Session) { invalid = m.settings.patch(s, in) }, lines...)
	if err = errors.Join(invalid, err); err != nil {
		return protocol.OK{}, err
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}
