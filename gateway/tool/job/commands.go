package job

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

const (
	// OpenTime is how long an open file or command is remembered after its last use. The machine ends
	// it earlier.
	OpenTime = 2 * time.Hour
	// maxReported bounds the sessions that reports of machines add.
	maxReported = 10_000
	// stopTime is how long ending a command may take.
	stopTime = 15 * time.Second
)

// Commands are the open files and commands of programs. It is safe for concurrent use.
type Commands struct {
	o       Options
	workers *crash.Workers

	mu  sync.Mutex // guards all
	all map[string]Opened
}

// Cleanup ends what calls have left on machines ([tool.Cleanup]).
type Cleanup interface {
	EndCommand(ctx context.Context, node protocol.NodeID, tool, id string) error
	DropFile(ctx context.Context, node protocol.NodeID, id string) error
	RunningCommands(ctx context.Context, node protocol.NodeID) (ids []string, err error)
}

// Options are the parts that [Commands] use.
type Options struct {
	Cleanup Cleanup
	// HasAccess reports whether an app can make calls; nil: every one can.
	HasAccess func(id protocol.AppID) bool
	Bus       *event.Bus // nil: nobody watches
}

// NewCommands returns Commands. The caller closes them.
func NewCommands(o Options) *Commands {
	return &Commands{o: o, workers: crash.NewWorkers(), all: make(map[string]Opened)}
}

// Close waits for the ends of commands that are on their way.
func (s *Commands) Close() { s.workers.Close(nil) }

// Event handles a machine's report about a command, which may be one of a program.
func (s *Commands) Event(node protocol.NodeID, e protocol.NodeExecEvent) {
	switch {
	case e.Event != protocol.ExecStarted:
		s.Ended(node, e.SessionID)
	case e.Caller != nil && s.count() < maxReported:
		s.Record(e.SessionID, Opened{Caller: *e.Caller, Call: e.CallID, Node: node, Tool: e.Tool, Text: cmp.Or(e.Text, e.Tool), Began: time.UnixMilli(e.StartedAt)})
	}
}

// Ended records the end of a command, which can still be read for a while.
func (s *Commands) Ended(node protocol.NodeID, id string) {
	s.mu.Lock()
	x, ok := s.all[id]
	isOurs := ok && x.Node == node && x.isRunning()
	if x.Text = ""; isOurs && !x.isLost {
		s.all[id] = x
	} else if isOurs {
		delete(s.all, id)
	}
	s.mu.Unlock()
	if isOurs {
		s.publishChange()
	}
}

// publishChange publishes that a command of a program has begun or ended.
func (s *Commands) publishChange() {
	if s.o.Bus != nil {
		s.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeApps})
	}
}

// List lists the running commands of programs, oldest first.
func (s *Commands) List() []protocol.AppCommand {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []protocol.AppCommand{}
	for id, x := range s.all {
		if !x.isRunning() {
			continue
		}
		q := protocol.AppCommand{ID: id, Name: x.Caller.Name, Node: x.Node, Text: x.Text, StartedAt: x.Began.UnixMilli()}
		if x.Caller.ID != auth.KindOwner {
			q.App = protocol.AppID(x.Caller.ID)
		}
		list = append(list, q)
	}
	slices.SortFunc(list, func(a, b protocol.AppCommand) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Stop ends a running command of a program.
func (s *Commands) Stop(ctx context.Context, id string) error {
	s.mu.Lock()
	x, ok := s.all[id]
	s.mu.Unlock()
	if !ok || !x.isRunning() {
		return protocol.ErrNotFound.With("no program runs a command with the ID " + id)
	}
	return s.kill(ctx, id, x)
}

// Lose ends a session that its caller cannot continue any more, now or when its machine is back. It
// does not block.
func (s *Commands) Lose(id string) {
	s.mu.Lock()
	x, ok := s.all[id]
	switch {
	case !ok:
	case !x.isRunning():
		delete(s.all, id) // the machine closes a file that nobody continues
	default:
		x.isLost = true
		s.all[id] = x
	}
	s.mu.Unlock()
	if !ok || !x.isRunning() {
		return
	}
	s.workers.Start(func() {
		ctx := s.workers.Context()
		err := s.kill(ctx, id, x)
		if errors.Is(err, protocol.ErrUnavailable) || ctx.Err() != nil {
			return // Run tries again
		}
		if err != nil {
			slog.Warn("The command of an app could not be ended", "node", x.Node, "session", id, "err", err)
		}
		s.Remove(id)
		s.publishChange()
	})
}

// loseAll ends every session for which isMeant returns true.
func (s *Commands) loseAll(isMeant func(Opened) bool) {
	var lost []string
	s.mu.Lock()
	for id, x := range s.all {
		if isMeant(x) {
			lost = append(lost, id)
		}
	}
	s.mu.Unlock()
	for _, id := range lost {
		s.Lose(id)
	}
}

// kill ends a running command on its machine.
func (s *Commands) kill(ctx context.Context, id string, x Opened) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	err := s.o.Cleanup.EndCommand(ctx, x.Node, x.Tool, id)
	if f, ok := errors.AsType[*protocol.Fault](tool.FaultOf(err)); ok && f.Code == protocol.FaultNotFound {
		return nil // it has ended
	}
	return err
}

// Run calls MachineConnected for each machine that connects, until ctx ends.
func (s *Commands) Run(ctx context.Context) {
	online := make(map[protocol.NodeID]bool)
	sub := s.o.Bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode })
	defer sub.Close()
	for c := range sub.All(ctx) {
		if c.Node.Online && !online[c.Node.ID] {
			s.MachineConnected(c.Node.ID)
		}
		online[c.Node.ID] = c.Node.Online
	}
}

// MachineConnected ends the commands on a machine that their callers lost while it was offline, and
// finds out which others have ended meanwhile. It does not wait for that.
func (s *Commands) MachineConnected(node protocol.NodeID) {
	s.loseAll(func(x Opened) bool { return x.Node == node && x.isLost })
	var known []string
	s.mu.Lock()
	for id, x := range s.all {
		if x.Node == node && x.isRunning() && !x.isLost {
			known = append(known, id)
		}
	}
	s.mu.Unlock()
	if len(known) == 0 {
		return
	}
	s.workers.Start(func() {
		ctx, cancel := context.WithTimeout(s.workers.Context(), stopTime)
		defer cancel()
		running, err := s.o.Cleanup.RunningCommands(ctx, node)
		if err != nil {
			return // it has gone again, or has no such tool
		}
		known = slices.DeleteFunc(known, func(id string) bool { return slices.Contains(running, id) })
		for _, id := range known {
			s.Ended(node, id)
		}
	})
}
