package shell

import (
	"maps"
	"os"
	"slices"

	"fairlead/gateway/protocol"
)

func (j *job) event(name string) protocol.NodeExecEvent {
	return protocol.NodeExecEvent{EventID: protocol.NewID(), SessionID: j.id, CallID: j.call, Event: name, StartedAt: j.started.UnixMilli()}
}

func (j *job) endEvent() protocol.NodeExecEvent {
	e := j.event(protocol.ExecFailed)
	switch {
	case j.result.ok():
		e.Event = protocol.ExecFinished
	case j.result.why == byTimeout:
		e.Event = protocol.ExecTimedOut
	}
	e.ExitCode, e.Signal, e.OutputTail = j.result.code, j.result.signal, j.out.tail()
	e.EndedAt, _ = j.endedAt()
	if j.result.why == byCancel { // only Close cancels background commands
		e.OutputTail += "\n(The command was ended because its node stopped.)"
	}
	return e
}

// tell reports the end of a background command and stores it until [Jobs.Confirm]. It is reported
// even if it cannot be stored.
func (t *Jobs) tell(e protocol.NodeExecEvent) {
	if t.ledger.dir != "" {
		t.telling.Lock()
		t.untold[e.SessionID] = e
		t.telling.Unlock()
		t.ledger.end(beingOf(os.Getpid()), e)
	}
	t.opts.Events(e)
}

// Confirm removes the stored end of a background command, which need not be reported again. It must
// not be called after Close.
func (t *Jobs) Confirm(sessionID string) {
	t.telling.Lock()
	delete(t.untold, sessionID)
	t.telling.Unlock()
	t.ledger.remove(sessionID)
}

// handDown leaves the ends that were not confirmed to the next node.
func (t *Jobs) handDown() {
	t.telling.Lock()
	left := slices.Collect(maps.Values(t.untold))
	t.telling.Unlock()
	for _, e := range left {
		t.ledger.end(being{}, e)
	}
}
