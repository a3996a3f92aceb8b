package stream

import (
	"context"
	"path"
	"time"

	"fairlead/gateway/protocol"
)

func (e *Ends) stop(p protocol.TransferStop) {
	cause := ErrDiscard
	if p.Keep {
		cause = errLost
	}
	found := false
	for _, source := range []bool{true, false} {
		if n := e.find(p.TransferID, source); n != nil {
			n.cancel(cause)
			n.in.Close(cause)
			found = true
		}
	}
	if found {
		return
	}
	if p.Keep || p.Stream == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		wait, done := e.enqueueLocked(attemptID{id: p.Stream.ID}, nil)
		e.wg.Go(func() {
			defer done()
			wait()
			e.discard(p)
		})
	}
}

// discard removes the unfinished files of a transfer that was cancelled while it was not running.
func (e *Ends) discard(p protocol.TransferStop) {
	mark := partPrefixOf(p.Stream.ID)
	e.unfinished.removeCheckpoints(mark, atDestination)
	removed := e.unfinished.removeFiles(e.files, mark, time.Time{})
	t, err := e.files.Target(p.Path, p.Stream.Into, false)
	if err == nil {
		defer t.Root.Close()
	}
	if err == nil && p.Current != "" {
		r := &Receiver{Transfer: p.Stream.ID}
		if t.Root.Remove(r.partName(path.Clean(p.Current))) == nil {
			removed++
		}
	}
	if removed > 0 {
		e.log.Info("Unfinished files removed", "transfer", p.Stream.ID, "files", removed)
	}
	e.discarded(p.TransferID, p.Stream.ID)
}

// discarded confirms that a transfer left nothing unfinished. A gateway that does not receive it
// asks again.
func (e *Ends) discarded(number uint32, id protocol.TransferID) {
	ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
	defer cancel()
	e.peer.Report(ctx, protocol.TransferFinish.Name, protocol.TransferDoneParams{TransferID: &number, Discarded: id}, false)
}

// confirmLimit is the time limit for sending a confirmation.
const confirmLimit = 5 * time.Second
