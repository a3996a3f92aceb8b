package shell

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

func (j *job) event(name string) protocol.NodeExecEvent {
	return protocol.NodeExecEvent{EventID: protocol.NewID(), SessionID: j.id, CallID: j.call, Event: name, StartedAt: j.started.UnixMilli()}
}

func (j *job) endEvent() protocol.NodeExecEvent {
	e := j.event(protocol.ExecFailed)
	switch {
	case j.result.succeeded():
		e.Event = protocol.ExecFinished
	case j.result.reason == byTimeout:
		e.Event = protocol.ExecTimedOut
	}
	e.ExitCode, e.Signal, e.OutputTail = j.result.code, j.result.signal, j.out.tail()
	e.EndedAt, _ = j.endedAt()
	if j.result.reason == byCancel { // only Close cancels background commands
		e.OutputTail += "\n(The command was ended because its node stopped.)"
	}
	return e
}

// reportEnd reports the end of a background command and stores it until [Jobs.Confirm]. It is
// reported even if it cannot be stored.
func (t *Jobs) reportEnd(e protocol.NodeExecEvent) {
	if t.records.dir != "" {
		t.unconfirmedMu.Lock()
		t.unconfirmed[e.SessionID] = e
		t.unconfirmedMu.Unlock()
		t.records.saveEnd(identify(os.Getpid()), e)
	}
	t.opts.Events(e)
}

// Confirm removes the stored end of a background command, which need not be reported again. It must
// not be called after Close.
func (t *Jobs) Confirm(sessionID string) {
	t.unconfirmedMu.Lock()
	delete(t.unconfirmed, sessionID)
	t.unconfirmedMu.Unlock()
	t.records.remove(sessionID)
}

// storeUnconfirmed leaves the ends that were not confirmed to the next node.
func (t *Jobs) storeUnconfirmed() {
	t.unconfirmedMu.Lock()
	left := slices.Collect(maps.Values(t.unconfirmed))
	t.unconfirmedMu.Unlock()
	for _, e := range left {
		t.records.saveEnd(processIdentity{}, e)
	}
}

// Leftover is a command that a dead node left behind.
type Leftover struct {
	SessionID string
	// WasRunning reports that it was still running and has been ended.
	WasRunning bool
}

// Recover handles the commands of an earlier node. Ends of background commands that were not
// confirmed are reported again, with their IDs. If that node died, its commands are looked up:
// those that still run are ended with their process group, and background commands are reported as
// failed. It takes about 250 ms when there is one to end. Commands of another running node are left
// alone.
func (t *Jobs) Recover(ctx context.Context) (all []Leftover) {
	var ends []protocol.NodeExecEvent
	for id, e := range t.records.load() {
		switch {
		case ctx.Err() != nil || e.Node.isRunning():
			continue
		case e.End != nil:
			ends = append(ends, *e.End)
			continue
		}
		left := Leftover{SessionID: id, WasRunning: e.Command.isRunning()}
		text := "The node ended while this command was running. Its outcome is unknown."
		if left.WasRunning {
			terminateGroup(ctx, e.Command)
			text = "The node ended while this command was running. The command was ended when the node started again."
		}
		all = append(all, left)
		if !e.Background {
			t.records.remove(id)
			continue
		}
		ends = append(ends, protocol.NodeExecEvent{
			EventID: protocol.NewID(), SessionID: id, CallID: e.Call, Event: protocol.ExecFailed, StartedAt: e.Started,
			EndedAt: time.Now().UnixMilli(), OutputTail: text,
		})
	}
	slices.SortFunc(ends, func(a, b protocol.NodeExecEvent) int { return int(a.EndedAt - b.EndedAt) })
	for _, e := range ends {
		t.reportEnd(e)
	}
	return all
}

// terminateGroup asks the process group of a process to end and kills it after killAfter.
func terminateGroup(ctx context.Context, b processIdentity) {
	signalGroup(b.PID, false)
	for end := time.Now().Add(killAfter); b.isRunning() && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(5 * time.Millisecond)
	}
	if b.isRunning() {
		signalGroup(b.PID, true)
	}
}
