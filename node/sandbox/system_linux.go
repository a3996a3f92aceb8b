package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"fairlead/node/sandbox/supervisor"
)

// system starts commands through a helper process. The helper is started with the first command,
// and again when it was lost.
type system struct {
	set         supervisor.Settings
	unavailable string // why no helper can run; empty if one can

	mu     sync.Mutex
	helper *supervisor.Helper
	closed bool
}

func newSystem(opts Options) (*system, error) {
	s := &system{set: supervisor.Settings{Missing: opts.Missing, Wrap: wrapper(opts), Inner: []string{helperWord, innerWord}}}
	s.set.Hidden, s.set.Shown = hidden(opts)
	switch {
	case slices.Contains(opts.Missing, "helper"):
		s.unavailable = "the helper is disabled"
	case !mainCalled.Load():
		s.unavailable = "this program cannot run as its own helper"
	}
	return s, nil
}

func (s *system) start(spec Spec) (*Process, error) {
	if s.unavailable != "" {
		return direct(spec.Argv, spec)
	}
	h, err := s.runningHelper()
	if err != nil {
		return nil, err
	}
	return start(h, spec)
}

// runningHelper returns a running helper.
func (s *system) runningHelper() (*supervisor.Helper, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("sandbox: closed")
	}
	if s.helper != nil && !s.helper.IsLost() {
		return s.helper, nil
	}
	h, err := startHelper(s.set)
	if err != nil {
		return nil, fmt.Errorf("sandbox: starting the helper: %w", err)
	}
	s.helper = h
	return h, nil
}

func (s *system) close() error {
	s.mu.Lock()
	h := s.helper
	s.helper, s.closed = nil, true
	s.mu.Unlock()
	if h != nil {
		h.Close()
	}
	return nil
}
