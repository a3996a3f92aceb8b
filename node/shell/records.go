package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/protocol"
)

// recordDir is a folder with a file for each running command, so that a node can find the commands
// of one that died, and for each background command whose end was not confirmed. The zero value
// stores nothing.
type recordDir struct{ dir string }

// processIdentity identifies a process; its start time distinguishes it from a later one with the
// same number.
//
// gopsutil does not serve for start times: on Linux it adds the ticks to the time of the boot,
// which shifts when the clock is set, so that a later node would not recognize a process.
type processIdentity struct {
	PID  int    `json:"pid"`
	Born string `json:"born"` // empty where the system does not report it
}

func identify(pid int) processIdentity { return processIdentity{pid, startTime(pid)} }

func (b processIdentity) isRunning() bool { return b.Born != "" && startTime(b.PID) == b.Born }

// record is the record of a command: it contains neither its text nor, while it runs, its output.
type record struct {
	Node       processIdentity `json:"node"` // the node that runs it
	Command    processIdentity `json:"command"`
	Started    int64           `json:"started"` // ms
	Background bool            `json:"background,omitempty"`

	Call protocol.CallID `json:"call,omitempty"`
	// End is the event to report for a command that has ended.
	End *protocol.NodeExecEvent `json:"end,omitempty"`
}

const recordSuffix = ".json"

func (l recordDir) path(id string) string { return filepath.Join(l.dir, id+recordSuffix) }

// saveRunning records a running command. Errors are ignored: the command runs all the same.
func (l recordDir) saveRunning(j *job) {
	if l.dir == "" {
		return
	}
	data, err := json.Marshal(record{Node: identify(os.Getpid()), Command: identify(j.pid), Started: j.started.UnixMilli(), Background: j.canBackground, Call: j.call})
	if err != nil {
		return
	}
	if os.WriteFile(l.path(j.id), data, 0o600) != nil {
		os.MkdirAll(l.dir, 0o700)
		os.WriteFile(l.path(j.id), data, 0o600)
	}
}

// saveEnd replaces the record of a command by the event of its end, and syncs it to disk. node is
// the process that will report it.
func (l recordDir) saveEnd(node processIdentity, e protocol.NodeExecEvent) error {
	data, err := json.Marshal(record{Node: node, Started: e.StartedAt, Background: true, Call: e.CallID, End: &e})
	if err != nil {
		return err
	}
	return atomicfile.Write(l.path(e.SessionID), data, 0o600)
}

func (l recordDir) remove(id string) {
	if l.dir != "" {
		os.Remove(l.path(id))
	}
}

// load returns the entries, without those that a crash has cut short.
func (l recordDir) load() map[string]record {
	files, err := os.ReadDir(l.dir)
	if l.dir == "" || err != nil {
		return nil
	}
	list := make(map[string]record)
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), recordSuffix)
		if !ok {
			continue
		}
		var e record
		if data, err := os.ReadFile(l.path(id)); err != nil || json.Unmarshal(data, &e) != nil {
			l.remove(id)
			continue
		}
		list[id] = e
	}
	return list
}

func (j *job) event(name string) protocol.NodeExecEvent {
	e := protocol.NodeExecEvent{EventID: protocol.NewID(), SessionID: j.id, CallID: j.call, Event: name, StartedAt: j.started.UnixMilli()}
	if j.caller != nil {
		e.Caller, e.Tool, e.Text = j.caller, j.tool, j.command
	}
	return e
}

func (j *job) endEvent() protocol.NodeExecEvent {
	e := j.event(protocol.ExecFailed)
	switch {
	case j.result.hasSucceeded():
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
		t.records.saveEnd(identify(os.Getpid()), e)
	}
	t.events(e)
}

// Confirm removes the stored end of a background command, which need not be reported again.
func (t *Jobs) Confirm(sessionID string) { t.records.remove(sessionID) }

// releaseEnds leaves the ends that were not confirmed to the next node, which may be in this process.
func (t *Jobs) releaseEnds() {
	own := identify(os.Getpid())
	for _, r := range t.records.load() {
		if r.End != nil && r.Node == own {
			t.records.saveEnd(processIdentity{}, *r.End)
		}
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
