package gateway

import (
	"context"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session"
)

// status is the gateway's state, which every client shows. It is safe for concurrent use.
type status struct {
	fixed  protocol.Status // the fields that do not change: version, start time, addresses and folders
	config *config.Store
	runs   *session.Runs
	bus    *event.Bus
	// problems are those of the addresses of published services.
	problems func() []string
}

func (s *status) current(context.Context) protocol.Status {
	now, cfg := s.fixed, s.config.Get()
	now.Paused, now.Storage = s.runs.Paused()
	now.Missing = s.config.Missing()
	now.ServiceProblems = s.problems()
	now.Model = protocol.ModelRef{Provider: cfg.Model.Provider, ID: cfg.Model.ID}
	now.MainSession = cfg.MainSession()
	return now
}

func (s *status) publish() {
	now := s.current(context.Background())
	s.bus.Publish(protocol.Change{Kind: protocol.ChangeStatus, Status: &now})
}

// configChanged publishes a changed setting, and the status, which may depend on it.
func (s *status) configChanged(path string) {
	s.bus.Publish(protocol.Change{Kind: protocol.ChangeConfig, Path: path})
	s.publish()
}
