package feed

import (
	"context"
	"slices"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Transfers has the transfers.
type Transfers struct {
	List []protocol.Transfer // unfinished, oldest first
	// Finished are the transfers that succeeded or failed while this window was open, oldest first.
	Finished []protocol.Transfer
	// Removed are the transfers that will be removed from the history unless the person undoes that.
	Removed map[protocol.TransferID]bool
}

func (l *Transfers) put(t protocol.Transfer) {
	l.List = lists.Replace(l.List, t, func(x protocol.Transfer) bool { return x.ID == t.ID })
}

func (l *Transfers) finish(t protocol.Transfer) {
	same := func(x protocol.Transfer) bool { return x.ID == t.ID }
	// otherwise it finished earlier, and another property changed
	if t.State != protocol.TransferCancelled && slices.ContainsFunc(l.List, same) {
		l.Finished = append(lists.Without(l.Finished, same), t)
		l.Finished = l.Finished[max(0, len(l.Finished)-maxEnded):]
	}
	l.List = lists.Without(l.List, same)
}

// resumeLocalTransfers resumes the transfers of this computer's files over a new connection.
func (to follower) resumeLocalTransfers(list []protocol.Transfer) {
	f := to.feed
	for _, t := range list {
		if (t.From == protocol.Here || t.To == protocol.Here) && (t.State == protocol.TransferWaiting || t.State == protocol.TransferQueued) {
			f.Tasks.StartRequest(func(ctx context.Context) {
				// the gateway correctly refuses transfers of another window
				Call(ctx, f, protocol.TransferResume, protocol.TransferParams{ID: t.ID})
			})
		}
	}
}
