package job

import (
	"context"
	"log/slog"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Opened is an open file or command.
type Opened struct {
	Caller protocol.ToolCaller
	Call   protocol.CallID // that began it
	Node   protocol.NodeID
	Tool   string    // of the machine
	Text   string    // the command line of a running command; empty for a file
	Began  time.Time // of a command

	used time.Time
	// isLost means that its caller cannot continue it any more: it ends as soon as its machine can be
	// reached.
	isLost bool
}

// isRunning reports whether x is a command that has not ended.
func (x Opened) isRunning() bool { return x.Text != "" }

// add records a session, unless it is known.
func (s *Commands) add(id string, x Opened) (isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, other := range s.all {
		if time.Since(other.used) > OpenTime && (!other.isRunning() || other.Tool == protocol.CommandTool) {
			delete(s.all, old)
		}
	}
	if _, known := s.all[id]; known {
		return false
	}
	x.used = time.Now()
	s.all[id] = x
	return true
}

func (s *Commands) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// Remove forgets what has ended.
func (s *Commands) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

// Find returns what a caller has opened with a tool. For the caller, what others have opened does
// not exist; the failure is a *protocol.Fault.
func (s *Commands) Find(p auth.Principal, id, name string) (Opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.all[id]
	if !ok || x.Caller.ID != p.Caller() || x.Tool != name || x.isLost || tool.CheckAccess(p, x.Node) != nil {
		return Opened{}, protocol.NewFault(protocol.FaultNotFound, "there is no such session: it has ended, or belongs to another token")
	}
	x.used = time.Now()
	s.all[id] = x
	return x, nil
}

// Record records what a caller has opened, and ends it if its app has lost its access meanwhile.
func (s *Commands) Record(id string, x Opened) {
	isNew := s.add(id, x)
	if s.o.HasAccess != nil && x.Caller.ID != auth.KindOwner && !s.o.HasAccess(protocol.AppID(x.Caller.ID)) {
		s.Lose(id)
	}
	if isNew && x.isRunning() {
		s.publishChange()
	}
}

// Drop forgets an open file and drops its parts. The machine drops them later if it cannot be
// reached.
func (s *Commands) Drop(ctx context.Context, id string) {
	s.mu.Lock()
	x, ok := s.all[id]
	delete(s.all, id)
	s.mu.Unlock()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := s.o.Cleanup.DropFile(ctx, x.Node, id); err != nil {
		slog.Info("Collected parts could not be dropped", "node", x.Node, "err", err)
	}
}

// CancelOf ends what an app has opened. It does not wait for that.
func (s *Commands) CancelOf(id protocol.AppID) {
	s.loseAll(func(x Opened) bool { return x.Caller.ID == string(id) })
}

// Limit ends what a caller has opened and may not use any more with its present rights p. It does
// not wait for that.
func (s *Commands) Limit(p auth.Principal) {
	s.loseAll(func(x Opened) bool {
		return x.Caller.ID == p.Caller() && tool.CheckAccess(p, x.Node, protocol.ScopesOf(x.Tool)...) != nil
	})
}
