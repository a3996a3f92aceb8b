package shell

import (
	"context"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// Left is a command that a dead node left behind.
type Left struct {
	SessionID string
	// Alive reports that it was still running and has been ended.
	Alive bool
}

// Recover handles the commands of an earlier node. Ends of background commands that were not
// confirmed are reported again, with their IDs. If that node died, its commands are looked up:
// those that still run are ended with their process group, and background commands are reported as
// failed. It takes about 250 ms when there is one to end. Commands of another running node are left
// alone.
func (t *Jobs) Recover(ctx context.Context) (all []Left) {
	var ends []protocol.NodeExecEvent
	for id, e := range t.ledger.all() {
		switch {
		case ctx.Err() != nil || e.Node.alive():
			continue
		case e.End != nil:
			ends = append(ends, *e.End)
			continue
		}
		left := Left{SessionID: id, Alive: e.Command.alive()}
		text := "The node ended while this command ran; how far it came is not known."
		if left.Alive {
			endGroup(ctx, e.Command)
			text = "The node ended while this command ran. The command outlived it and was ended when the node started again."
		}
		all = append(all, left)
		if !e.Background {
			t.ledger.remove(id)
			continue
		}
		ends = append(ends, protocol.NodeExecEvent{
			EventID: protocol.NewID(), SessionID: id, CallID: e.Call, Event: protocol.ExecFailed, StartedAt: e.Started,
			EndedAt: time.Now().UnixMilli(), OutputTail: text,
		})
	}
	slices.SortFunc(ends, func(a, b protocol.NodeExecEvent) int { return int(a.EndedAt - b.EndedAt) })
	for _, e := range ends {
		t.tell(e)
	}
	return all
}

// endGroup asks the process group of a process to end and kills it after killAfter.
func endGroup(ctx context.Context, b being) {
	signalGroup(b.PID, false)
	for end := time.Now().Add(killAfter); b.alive() && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(5 * time.Millisecond)
	}
	if b.alive() {
		signalGroup(b.PID, true)
	}
}
