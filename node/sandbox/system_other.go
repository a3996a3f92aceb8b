//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"sync"

	"fairlead/gateway/peer/crash"
)

// system starts commands as children of this process and groups them by the system's own means.
type system struct {
	opts  Options
	layer layer

	mu      sync.Mutex
	closed  bool
	running map[*Process]struct{}
}

func newSystem(opts Options) *system {
	return &system{opts: opts, running: map[*Process]struct{}{}}
}

func (s *system) probe(ctx context.Context, opts Options) Report { return s.layer.probe(ctx, opts) }

func (s *system) start(spec Spec) (*Process, error) {
	argv, env, err := s.layer.wrap(spec, s.opts)
	if err != nil {
		return nil, err
	}
	spec.Env = env
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("sandbox: closed")
	}
	p, err := direct(argv, spec)
	if err != nil {
		return nil, err
	}
	s.running[p] = struct{}{}
	crash.Go(func() {
		<-p.Done()
		s.mu.Lock()
		delete(s.running, p)
		s.mu.Unlock()
	})
	return p, nil
}

func (*system) privateTemp(Profile) string { return "" }

func (s *system) close() {
	s.mu.Lock()
	s.closed = true
	var all []*Process
	for p := range s.running {
		all = append(all, p)
	}
	s.mu.Unlock()
	for _, p := range all {
		p.Kill()
	}
	for _, p := range all {
		<-p.Exited()
	}
	s.layer.close()
}
