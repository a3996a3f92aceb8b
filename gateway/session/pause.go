package session

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

// pause prevents model steps and queued messages from starting. It is safe for concurrent use.
type pause struct {
	bus     *event.Bus
	changed []func() // see Runs.OnPause

	mu           sync.Mutex    // guards the fields below
	ended        chan struct{} // closed when the pause ends; nil while none exists
	storageError string        // the storage error that caused the pause, or ""
}

// set pauses or resumes the agents. It returns false if nothing changed.
func (p *pause) set(paused bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if (p.ended != nil) == paused {
		return false
	}
	if paused {
		p.ended = make(chan struct{})
	} else {
		close(p.ended)
		p.ended, p.storageError = nil, ""
	}
	return true
}

// end returns a channel that is closed when the pause ends; nil when the agents are not paused.
func (p *pause) end() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// wait blocks while the agents are paused.
func (p *pause) wait(ctx context.Context) error {
	for ended := p.end(); ended != nil && ctx.Err() == nil; ended = p.end() {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

func (p *pause) notify() {
	for _, f := range p.changed {
		f()
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
	p.notify()
	slog.Error("Nothing can be stored; the agents are paused", "err", err)
	p.bus.PublishNotice("error", e.Message+" The agent is paused. Resume it when the problem is fixed.")
	return err
}

// Pause pauses or resumes all agents, now and after the next start. While paused, running model
// steps finish and nothing new starts. The agents stop even if that cannot be stored, which is then
// an error, but they do not resume.
func (r *Runs) Pause(ctx context.Context, paused bool) error {
	var err error
	if r.x.chats.settings.config().Agent.Paused != paused {
		err = r.set(ctx, "agent.paused", json.RawMessage(strconv.FormatBool(paused)))
	}
	if err == nil || paused {
		r.setPaused(paused)
	}
	r.x.pause.notify()
	return err
}

// OnPause registers f, which is called after the agents have been paused or resumed by Pause or
// paused by a storage error. Call it before Load.
func (r *Runs) OnPause(f func()) { r.x.pause.changed = append(r.x.pause.changed, f) }

// setPaused pauses or resumes all agents until the gateway stops.
func (r *Runs) setPaused(paused bool) {
	if r.x.pause.set(paused) && !paused {
		r.startNext()
	}
}

// Paused reports whether the agents are paused. storageError is the storage error that caused the
// pause, or "".
func (r *Runs) Paused() (paused bool, storageError string) {
	p := r.x.pause
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended != nil, p.storageError
}
