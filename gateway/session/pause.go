package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

// pause is the state in which no model step and no queued message starts. It is safe for concurrent
// use.
type pause struct {
	bus *event.Bus
	// changed, if set, is called when a storage error has paused the agents.
	changed func()

	mu           sync.Mutex // guards the fields below
	paused       bool
	ended        chan struct{} // closed when the pause ends
	storageError string        // the storage error that caused the pause, or ""
}

// set pauses or resumes the agents. It returns false if nothing changed.
func (p *pause) set(paused bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused == paused {
		return false
	}
	p.paused = paused
	if paused {
		p.ended = make(chan struct{})
	} else {
		p.storageError = ""
		close(p.ended)
	}
	return true
}

func (p *pause) isPaused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paused
}

// wait blocks while the agents are paused.
func (p *pause) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		paused, ended := p.paused, p.ended
		p.mu.Unlock()
		if !paused {
			return context.Cause(ctx)
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// onStoreError pauses the agents and notifies the person if err says that nothing can be stored,
// such as on a full disk. It returns err.
func (p *pause) onStoreError(err error) error {
	if !errors.Is(err, protocol.ErrStorage) {
		return err
	}
	var e *protocol.Error
	errors.As(err, &e)
	p.mu.Lock()
	first := p.storageError == ""
	p.storageError = e.Message
	p.mu.Unlock()
	p.set(true)
	if !first {
		return err
	}
	if p.changed != nil {
		p.changed()
	}
	slog.Error("Nothing can be stored; the agents are paused", "err", err)
	p.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
		Level: "error", At: time.Now().UnixMilli(),
		Text: e.Message + " The agent is paused. Resume it when the problem is fixed.",
	}})
	return err
}

// SetPaused pauses or resumes all agents. While paused, running model steps finish and nothing new
// starts.
func (a *sessions) SetPaused(paused bool) {
	if !a.pause.set(paused) || paused {
		return
	}
	for _, s := range a.all() {
		select {
		case s.inbox <- s.startNext:
		case <-a.ctx.Done():
		}
	}
}

// Paused reports whether the agents are paused. storageError is the storage error that caused the
// pause, or "".
func (a *sessions) Paused() (paused bool, storageError string) {
	a.pause.mu.Lock()
	defer a.pause.mu.Unlock()
	return a.pause.paused, a.pause.storageError
}
