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

// reportEnd reports the end of a background command and stores it until [Jobs.Confirm]. It is reported
// even if it cannot be stored.
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
