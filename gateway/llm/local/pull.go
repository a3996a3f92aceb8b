package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// progressEvery is the shortest time between two reports of progress.
const progressEvery = 500 * time.Millisecond

// pull is a download. Its fields are guarded by Models.mu.
type pull struct {
	protocol.ModelPull
	cancel   context.CancelFunc
	ended    chan struct{}
	reported time.Time
}

// Pull starts or resumes the download of a model. A model that is being downloaded is not an error.
func (m *Models) Pull(provider, model string) error {
	e, ok := m.find(model)
	if !ok {
		return protocol.ErrNotFound.With(fmt.Sprintf("There is no model %q to download.", model))
	}
	if provider != Ollama && provider != LlamaCPP {
		return protocol.ErrBadRequest.With(fmt.Sprintf("Models are downloaded for %s or %s, and not for %q.", Ollama, LlamaCPP, provider))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx == nil || m.ctx.Err() != nil {
		return protocol.ErrUnavailable.With("the gateway is not running")
	}
	if p := m.pulls[model]; p != nil && p.State == protocol.PullRunning {
		if p.Provider == provider {
			return nil
		}
		return protocol.ErrConflict.With(e.Title + " is already being downloaded.")
	}
	ctx, cancel := context.WithCancel(m.ctx)
	p := &pull{
		ModelPull: protocol.ModelPull{Provider: provider, Model: model, State: protocol.PullRunning},
		cancel:    cancel, ended: make(chan struct{}),
	}
	m.pulls[model] = p
	m.report(p)
	m.work.Go(func() {
		defer close(p.ended)
		defer cancel()
		m.end(p, crash.Call("download of a model", func() error {
			if provider == Ollama {
				return m.pullOllama(ctx, p, e)
			}
			return m.pullFile(ctx, p, e)
		}), ctx.Err() != nil)
	})
	return nil
}

// StopPull stops a download, and with discard deletes what it has. It returns when that is done.
func (m *Models) StopPull(ctx context.Context, model string, discard bool) error {
	e, ok := m.find(model)
	if !ok {
		return protocol.ErrNotFound.With(fmt.Sprintf("There is no model %q.", model))
	}
	m.mu.Lock()
	p := m.pulls[model]
	m.mu.Unlock()
	if p != nil {
		p.cancel()
		select {
		case <-p.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !discard {
		return nil
	}
	if err := os.Remove(m.path(e) + partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete the partial file: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p != nil && m.pulls[model] == p && p.State != protocol.PullDone {
		delete(m.pulls, model)
		p.State, p.Done = protocol.PullStopped, 0
		m.report(p)
	}
	return nil
}

func (m *Models) end(p *pull, err error, stopped bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		p.State = protocol.PullDone
		m.reload() // llama-server may wait for it
	case stopped:
		p.State = protocol.PullStopped
	default:
		p.State, p.Error = protocol.PullFailed, err.Error()
	}
	m.report(p)
}

// progress records how much of a download is there, and reports it from time to time.
func (m *Models) progress(p *pull, done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Done, p.Total = done, total
	if time.Since(p.reported) >= progressEvery {
		m.report(p)
	}
}

// report needs m.mu.
func (m *Models) report(p *pull) {
	p.reported = time.Now()
	state := p.ModelPull
	m.o.Bus.Publish(protocol.Change{Kind: protocol.ChangePull, Pull: &state})
}
