package shell

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"fairlead/gateway/protocol"
)

// recordDir is a folder with a file for each running command, so that a node can find the commands
// of one that died, and for each background command whose end was not confirmed. The zero ledger
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

const (
	recordSuffix = ".json"
	newSuffix    = ".new" // of a file that is being written
)

func (l recordDir) path(id string) string { return filepath.Join(l.dir, id+recordSuffix) }

// saveRunning records a running command. Errors are ignored, so that commands can run when the
// ledger cannot be written.
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
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	path := l.path(e.SessionID)
	f, err := os.OpenFile(path+newSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(path+newSuffix, path)
	}
	return err
}

func (l recordDir) remove(id string) {
	if l.dir != "" {
		os.Remove(l.path(id))
	}
}

// load returns the entries, without those that a crash has cut short: their commands cannot have
// been reported to anyone.
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
