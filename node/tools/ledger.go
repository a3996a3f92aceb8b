package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// ledger is a folder with a file for each command that runs, so that the next start of a node that died finds what it left. The zero ledger keeps
// nothing.
type ledger struct{ dir string }

// being is a process, told apart from a later one with the same number by when it was born.
type being struct {
	PID  int    `json:"pid"`
	Born string `json:"born"` // empty where the system does not say
}

func beingOf(pid int) being { return being{pid, born(pid)} }

func (b being) alive() bool { return b.Born != "" && born(b.PID) == b.Born }

// entry is what is kept of a command: neither its text nor its output.
type entry struct {
	Node       being `json:"node"` // who runs it
	Command    being `json:"command"`
	Started    int64 `json:"started"` // ms
	Background bool  `json:"background,omitempty"`

	Call protocol.CallID `json:"call,omitempty"`
}

const entrySuffix = ".json"

func (l ledger) path(id string) string { return filepath.Join(l.dir, id+entrySuffix) }

// add takes note of a command that runs. A ledger that cannot be written keeps nobody from running commands.
func (l ledger) add(j *job) {
	if l.dir == "" {
		return
	}
	data, err := json.Marshal(entry{Node: beingOf(os.Getpid()), Command: beingOf(j.pid), Started: j.started.UnixMilli(), Background: j.mayStay, Call: j.call})
	if err != nil {
		return
	}
	if os.WriteFile(l.path(j.id), data, 0o600) != nil {
		os.MkdirAll(l.dir, 0o700)
		os.WriteFile(l.path(j.id), data, 0o600)
	}
}

func (l ledger) remove(id string) {
	if l.dir != "" {
		os.Remove(l.path(id))
	}
}

// Left is a command of a node that died.
type Left struct {
	SessionID string
	// Alive says that it still ran and was ended now.
	Alive bool
}

// Recover finds the commands that were running when the node before this one died, ends those that run still, with what is in their process group,
// and reports the background ones as failed. It takes some 250 ms when there is one to end. Commands of another node that lives are left alone.
func (t *Jobs) Recover(ctx context.Context) (all []Left) {
	files, err := os.ReadDir(t.ledger.dir)
	if t.ledger.dir == "" || err != nil {
		return nil
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), entrySuffix)
		if !ok || ctx.Err() != nil {
			continue
		}
		data, err := os.ReadFile(t.ledger.path(id))
		var e entry
		if err != nil || json.Unmarshal(data, &e) != nil {
			t.ledger.remove(id) // cut off by the crash: the command cannot have been told to anyone
			continue
		}
		if e.Node.alive() {
			continue
		}
		left := Left{SessionID: id, Alive: e.Command.alive()}
		text := "The node ended while this command ran; how far it came is not known."
		if left.Alive {
			endGroup(ctx, e.Command)
			text = "The node ended while this command ran. The command outlived it and was ended when the node started again."
		}
		t.ledger.remove(id)
		if e.Background {
			t.opts.Events(protocol.NodeExecEvent{
				EventID: protocol.NewID(), SessionID: id, CallID: e.Call, Event: protocol.ExecFailed, StartedAt: e.Started,
				EndedAt: time.Now().UnixMilli(), OutputTail: text,
			})
		}
		all = append(all, left)
	}
	return all
}

// endGroup asks the group of a process to end and kills it after killAfter.
func endGroup(ctx context.Context, b being) {
	signalGroup(b.PID, false)
	for end := time.Now().Add(killAfter); b.alive() && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(5 * time.Millisecond)
	}
	if b.alive() {
		signalGroup(b.PID, true)
	}
}
