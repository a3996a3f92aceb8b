package gateway

import (
	"context"
	"log/slog"
	"sync"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service/console"
	"fairlead/gateway/terminal"
)

// serviceTerminals are the terminals of services. Each has one on its machine, which goes on without
// viewers and while the gateway is stopped.
type serviceTerminals struct {
	terminals *terminal.Terminals
	services  func() []protocol.Service
	bus       *event.Bus

	mu     sync.Mutex                  // held while programs are ended, so that no visit finds one that is to end
	ending map[protocol.ServiceID]bool // those that run something else from now on
}

func newServiceTerminals(t *terminal.Terminals, services func() []protocol.Service, bus *event.Bus) *serviceTerminals {
	return &serviceTerminals{terminals: t, services: services, bus: bus, ending: make(map[protocol.ServiceID]bool)}
}

// View implements [console.Terminals].
func (s *serviceTerminals) View(ctx context.Context, v protocol.Service, who console.Viewer, conn *console.Conn) error {
	by := "owner"
	if !who.IsOwner {
		by = "visitor " + who.Name
	}
	x, err := s.open(ctx, v, by)
	if err != nil {
		return err
	}
	return s.terminals.View(ctx, protocol.TerminalParams{Node: v.NodeID, ID: x.ID}, terminal.Viewer{Name: who.Name, By: by, MustAsk: !who.IsOwner, Conn: conn})
}

// open returns the terminal of a service, after it has ended the one before a change.
func (s *serviceTerminals) open(ctx context.Context, v protocol.Service, by string) (protocol.Terminal, error) {
	s.sweep(ctx)
	s.mu.Lock()
	wasEnding := s.ending[v.ID]
	delete(s.ending, v.ID) // otherwise the new one would be ended
	s.mu.Unlock()
	x, err := s.terminals.Open(ctx, v.NodeID, terminal.Opening{TerminalOpen: *v.Terminal, By: by, Service: v.ID})
	if err != nil && wasEnding { // the machine is offline, with the old one
		s.mu.Lock()
		s.ending[v.ID] = true
		s.mu.Unlock()
	}
	return x, err
}

// End implements [console.Terminals]. While the machine is offline, the program goes on until it is
// back.
func (s *serviceTerminals) End(v protocol.Service) {
	s.mu.Lock()
	s.ending[v.ID] = true
	s.mu.Unlock()
	crash.Go(func() { s.sweep(context.Background()) })
}

// Run ends the programs of services that are gone when their machines come back, until ctx ends.
func (s *serviceTerminals) Run(ctx context.Context) {
	sub := s.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeTerminals })
	defer sub.Close()
	for {
		if _, err := sub.Next(ctx); err != nil {
			return
		}
		s.sweep(ctx)
	}
}

// sweep ends the programs that are to end on machines that are online.
func (s *serviceTerminals) sweep(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := make(map[protocol.ServiceID]bool)
	for _, v := range s.services() {
		shown[v.ID] = v.Enabled && v.Terminal != nil
	}
	all, err := s.terminals.List(ctx, protocol.TerminalListParams{})
	for _, x := range all.Terminals {
		if x.Service == "" || x.EndedAt != 0 || shown[x.Service] && !s.ending[x.Service] {
			continue
		}
		err = s.terminals.Close(ctx, "gateway", protocol.TerminalParams{Node: x.Node, ID: x.ID})
		if err == nil {
			delete(s.ending, x.Service)
		}
	}
	if err != nil {
		slog.Info("The terminal of a service was not ended yet", "err", err)
	}
}
