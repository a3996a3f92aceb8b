package catalog

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

const (
	// keepSession is how long a session is remembered after its last use. The machine ends it earlier.
	keepSession = 2 * time.Hour
	// maxReported bounds the sessions that reports of machines add.
	maxReported = 10_000
	// stopTime is how long ending a command may take.
	stopTime = 15 * time.Second
)

// Commands are the open files and commands of programs. It is safe for concurrent use.
type Commands struct {
	o    Options
	jobs *jobs

	mu  sync.Mutex // guards all
	all map[string]session
}

type session struct {
	caller protocol.ToolCaller
	call   protocol.CallID // that began it
	node   protocol.NodeID
	tool   string // of the machine
	used   time.Time
	text   string    // the command line; empty for a file
	began  time.Time // of a command
	// isLost means that its caller cannot continue it any more: it ends as soon as its machine can be
	// reached.
	isLost bool
}

// isRunning reports whether x is a command that has not ended.
func (x session) isRunning() bool { return x.text != "" }

// add records a session, unless it is known.
func (s *Commands) add(id string, x session) (isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, other := range s.all {
		if time.Since(other.used) > keepSession && (!other.isRunning() || other.tool == commandTool) {
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

func (s *Commands) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

// session returns a session of the caller with a tool. For the caller, sessions of others do not
// exist.
func (c *call) session(id string, tool string) (session, error) {
	s := c.catalog.Commands
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.all[id]
	if !ok || x.caller.ID != c.principal.Caller() || x.tool != tool || x.isLost || !c.principal.MayUse(x.node) {
		return session{}, protocol.NewFault(protocol.FaultNotFound, "there is no such session: it has ended, or belongs to another token")
	}
	x.used = time.Now()
	s.all[id] = x
	return x, nil
}

// begun records that the caller has begun a session; text is its command line, empty for a file.
func (c *call) begun(id string, node protocol.NodeID, name, text string) {
	x := session{caller: protocol.ToolCaller{ID: c.principal.Caller(), Name: c.principal.Name}, call: c.last, node: node, tool: name, text: text, began: time.Now()}
	c.job.mu.Lock()
	c.job.opened = append(c.job.opened, id)
	c.job.mu.Unlock()
	c.catalog.Commands.record(id, x)
}

// record records a session, and ends it if its app has lost its access meanwhile.
func (c *Commands) record(id string, x session) {
	isNew := c.add(id, x)
	if c.o.HasAccess != nil && x.caller.ID != owner && !c.o.HasAccess(protocol.AppID(x.caller.ID)) {
		c.lose(id)
	}
	if isNew && x.isRunning() {
		c.changed()
	}
}

// Event handles a machine's report about a command, which may be one of a program.
func (c *Commands) Event(node protocol.NodeID, e protocol.NodeExecEvent) {
	switch {
	case e.Event != protocol.ExecStarted:
		c.ended(node, e.SessionID)
	case e.Caller != nil && c.count() < maxReported:
		c.record(e.SessionID, session{caller: *e.Caller, call: e.CallID, node: node, tool: e.Tool, text: cmp.Or(e.Text, e.Tool), began: time.UnixMilli(e.StartedAt)})
	}
}

// ended records the end of a command, which can still be read for a while.
func (c *Commands) ended(node protocol.NodeID, id string) {
	s := c
	s.mu.Lock()
	x, ok := s.all[id]
	isOurs := ok && x.node == node && x.isRunning()
	if x.text = ""; isOurs && !x.isLost {
		s.all[id] = x
	} else if isOurs {
		delete(s.all, id)
	}
	s.mu.Unlock()
	if isOurs {
		c.changed()
	}
}

func (c *Commands) changed() {
	if c.o.Changed != nil {
		c.o.Changed()
	}
}

// List lists the running commands of programs, oldest first.
func (c *Commands) List() []protocol.AppCommand {
	s := c
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []protocol.AppCommand{}
	for id, x := range s.all {
		if !x.isRunning() {
			continue
		}
		q := protocol.AppCommand{ID: id, Name: x.caller.Name, Node: x.node, Text: x.text, StartedAt: x.began.UnixMilli()}
		if x.caller.ID != owner {
			q.App = protocol.AppID(x.caller.ID)
		}
		list = append(list, q)
	}
	slices.SortFunc(list, func(a, b protocol.AppCommand) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Stop ends a running command of a program.
func (c *Commands) Stop(ctx context.Context, id string) error {
	c.mu.Lock()
	x, ok := c.all[id]
	c.mu.Unlock()
	if !ok || !x.isRunning() {
		return protocol.ErrNotFound.With("no program runs a command with the ID " + id)
	}
	return c.kill(ctx, id, x)
}

// lose ends a session that its caller cannot continue any more, now or when its machine is back. It
// does not block.
func (c *Commands) lose(id string) {
	s := c
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
	c.jobs.spawn(func(ctx context.Context) {
		err := c.kill(ctx, id, x)
		if errors.Is(err, protocol.ErrUnavailable) || ctx.Err() != nil {
			return // Run tries again
		}
		if err != nil {
			slog.Warn("The command of an app could not be ended", "node", x.node, "session", id, "err", err)
		}
		s.remove(id)
		c.changed()
	})
}

// loseAll ends every session for which isMeant returns true.
func (c *Commands) loseAll(isMeant func(session) bool) {
	var lost []string
	c.mu.Lock()
	for id, x := range c.all {
		if isMeant(x) {
			lost = append(lost, id)
		}
	}
	c.mu.Unlock()
	for _, id := range lost {
		c.lose(id)
	}
}

// kill ends a running command on its machine.
func (c *Commands) kill(ctx context.Context, id string, x session) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	err := c.o.Cleanup.EndCommand(ctx, x.node, x.tool, id)
	if f, ok := errors.AsType[*protocol.Fault](FaultOf(err)); ok && f.Code == protocol.FaultNotFound {
		return nil // it has ended
	}
	return err
}

// MachineConnected ends the commands on a machine that their callers lost while it was offline, and
// finds out which others have ended meanwhile. It does not wait for that.
func (c *Commands) MachineConnected(node protocol.NodeID) {
	c.loseAll(func(x session) bool { return x.node == node && x.isLost })
	var known []string
	c.mu.Lock()
	for id, x := range c.all {
		if x.node == node && x.isRunning() && !x.isLost {
			known = append(known, id)
		}
	}
	c.mu.Unlock()
	if len(known) == 0 {
		return
	}
	c.jobs.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, stopTime)
		defer cancel()
		running, err := c.o.Cleanup.RunningCommands(ctx, node)
		if err != nil {
			return // it has gone again, or has no such tool
		}
		known = slices.DeleteFunc(known, func(id string) bool { return slices.Contains(running, id) })
		for _, id := range known {
			c.ended(node, id)
		}
	})
}
