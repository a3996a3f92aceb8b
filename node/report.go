package node

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// maxReports is the maximum number of events of background commands that wait for the gateway.
// Beyond it the oldest are dropped, as in the original system.
const maxReports = 2048

// pendingEvents holds the events that the gateway has not confirmed, oldest first. The zero value
// is ready.
type pendingEvents struct {
	mu   sync.Mutex // guards list
	list []*protocol.NodeExecEvent
}

// add adds an event. It returns the event that was dropped to make room, or nil.
func (r *pendingEvents) add(e *protocol.NodeExecEvent) (lost *protocol.NodeExecEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) >= maxReports {
		lost = r.list[0]
		r.list = slices.Delete(r.list, 0, 1)
	}
	r.list = append(r.list, e)
	return lost
}

// contains reports whether an event has still to be sent.
func (r *pendingEvents) contains(e *protocol.NodeExecEvent) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.list, e)
}

func (r *pendingEvents) remove(e *protocol.NodeExecEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.list, e); i >= 0 {
		r.list = slices.Delete(r.list, i, i+1)
	}
}

// reportExec sends the gateway the state of a background command.
func (n *Node) reportExec(e protocol.NodeExecEvent) {
	event := &e
	if lost := n.pendingEvents.add(event); lost != nil {
		n.log.Warn("Report of a command lost", "session", lost.SessionID, "call", lost.CallID)
		n.confirmExec(lost)
	}
	n.out.add(item{
		queue: sessionKey(e.SessionID), call: e.CallID,
		send: func(ctx context.Context) error {
			if !n.pendingEvents.contains(event) {
				return nil // dropped in favor of later events
			}
			if _, err := client.Call(ctx, n.client, protocol.ReportExec, *event); err != nil {
				return fmt.Errorf("reporting a command: %w", err)
			}
			return nil
		},
		done: func() {
			n.pendingEvents.remove(event)
			n.confirmExec(event)
		},
	})
}

// confirmExec removes the stored end of a command, which was retained in case it did not reach the
// gateway.
func (n *Node) confirmExec(e *protocol.NodeExecEvent) {
	if e.Event != protocol.ExecStarted {
		n.jobs.Confirm(e.SessionID)
	}
}
