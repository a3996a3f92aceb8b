package stream

import (
	"context"
	"fmt"
	"path"
	"time"

	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// enqueueLocked cancels the attempts of a transfer at one of its ends, and returns a ticket for the
// time when they have closed their files and removed unfinished ones if necessary. The caller holds
// e.mu.
func (e *Ends) enqueueLocked(id protocol.TransferID, source bool) wire.Ticket {
	for _, n := range e.open {
		if n.transfer == id && n.source == source {
			n.stop(errLost)
		}
	}
	return e.attempts.Take(fmt.Sprint(source, id))
}

// stop stops the running end of a transfer. If the transfer was cancelled, its destination also
// removes the unfinished files of all attempts, and confirms that, once the current attempt has
// ended, which may have failed by itself just before.
func (e *Ends) stop(p protocol.TransferStop) {
	cause := errDiscard
	if p.Keep {
		cause = errLost
	}
	source := e.find(p.TransferID, true)
	for _, n := range []*end{source, e.find(p.TransferID, false)} {
		if n != nil {
			n.stop(cause)
		}
	}
	if p.Keep || p.Stream == nil || source != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		ticket := e.enqueueLocked(p.Stream.ID, false)
		e.wg.Go(func() {
			defer ticket.Release()
			ticket.Wait()
			e.discard(p)
		})
	}
}

// discard removes the unfinished files of a cancelled transfer without a running attempt.
func (e *Ends) discard(p protocol.TransferStop) {
	mark := partPrefixOf(p.Stream.ID)
	removed := e.options.Unfinished.removeFiles(e.options.Files, mark, time.Time{})
	t, err := e.options.Files.Target(p.Path, p.Stream.Into, false)
	if err == nil {
		defer t.Root.Close()
	}
	if err == nil && p.Current != "" {
		if t.Root.Remove(partName(p.Stream.ID, path.Clean(p.Current))) == nil {
			removed++
		}
	}
	if removed > 0 {
		e.options.Log.Info("Unfinished files removed", "transfer", p.Stream.ID, "files", removed)
	}
	e.confirmDiscarded(p.TransferID, p.Stream.ID)
}

// confirmDiscarded confirms that a transfer left nothing unfinished. A gateway that does not
// receive it asks again.
func (e *Ends) confirmDiscarded(number uint32, id protocol.TransferID) {
	ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
	defer cancel()
	e.options.Peer.Report(ctx, protocol.TransferFinish.Name, protocol.TransferDoneParams{TransferID: &number, Discarded: id}, false)
}

// confirmLimit is the time limit for sending a confirmation.
const confirmLimit = 5 * time.Second
