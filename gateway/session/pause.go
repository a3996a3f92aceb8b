package session

import (
	"context"
	"errors"
	"log/slog"

	"fairlead/gateway/protocol"
)

// SetPaused pauses or resumes all agents. While paused, running model steps finish and nothing new
// starts.
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

// Paused reports whether the agent is paused. storage is the storage error that caused the pause,
// or empty.
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

// stored checks an error of the store: if the disk cannot be written, it pauses the agent and
// publishes a notice. It returns err.
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
	if first && m.opts.StatusChanged != nil {
		m.opts.StatusChanged()
	}
	if first {
		slog.Error("Nothing can be stored, the agent pauses", "err", err)
		m.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
			Level: "error", At: m.now(),
			Text: e.Message + " The agent is paused; resume it when that is mended.",
		}})
	}
	return err
}
