// Package status reports the gateway's state to every client.
package status

import (
	"context"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session"
)

// Reporter reports the gateway's state. It is safe for concurrent use.
type Reporter struct {
	// Fixed contains the fields that do not change: version, start time, addresses and folders.
	Fixed  protocol.Status
	Config *config.Store
	Agents *session.Manager
	Bus    *event.Bus
}

// Status returns the current state.
func (r *Reporter) Status(context.Context) protocol.Status {
	s, cfg := r.Fixed, r.Config.Get()
	s.Paused, s.Storage = r.Agents.Paused()
	s.Missing = r.Config.Missing()
	s.Model = protocol.ModelRef{Provider: cfg.Model.Provider, ID: cfg.Model.ID}
	s.MainSession = cfg.MainSession()
	return s
}

// Pause pauses or resumes the agents and publishes the new state.
func (r *Reporter) Pause(ctx context.Context, paused bool) (protocol.Status, error) {
	r.Agents.SetPaused(paused)
	r.Publish()
	return r.Status(ctx), nil
}

// Publish publishes the current state.
func (r *Reporter) Publish() {
	s := r.Status(context.Background())
	r.Bus.Publish(protocol.Change{Kind: protocol.ChangeStatus, Status: &s})
}
