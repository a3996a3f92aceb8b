package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Pause pauses a transfer until Resume.
func (e *Engine) Pause(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error) {
	j, ended, err := e.findQueued(ctx, in.ID, "")
	if j == nil {
		return ended, err
	}
	e.mu.Lock()
	t := &j.row.Transfer
	switch {
	case j.isCancelled:
		e.mu.Unlock()
		return protocol.Transfer{}, endedError(protocol.TransferCancelled)
	case j.hasEnded:
		defer e.mu.Unlock()
		return protocol.Transfer{}, endedError(t.State)
	case t.Simple && t.State == protocol.TransferRunning:
		e.mu.Unlock()
		return protocol.Transfer{}, protocol.ErrConflict.With("One of the machines cannot pause. Cancel the transfer instead")
	case j.stopLocked(errPaused):
		stopped := j.stopped
		e.mu.Unlock()
		return j.waitFor(ctx, stopped), nil
	}
	t.State, t.Error, t.Speed, t.ETA = protocol.TransferPaused, "", 0, 0
	now := *t
	j.putLocked()
	return now, nil
}

// waitFor waits some seconds for a stopped attempt, or its job, to end.
func (j *job) waitFor(ctx context.Context, end <-chan struct{}) protocol.Transfer {
	select {
	case <-end:
	case <-ctx.Done():
	case <-time.After(2 * stopLimit):
	}
	return j.view()
}

// Resume continues a paused transfer. here may be nil; it is the calling window or command line,
// which becomes the transfer's end on that computer if the transfer has one there.
func (e *Engine) Resume(ctx context.Context, in protocol.TransferParams, here Window) (protocol.Transfer, error) {
	j, ended, err := e.findQueued(ctx, in.ID, "")
	if j == nil {
		return ended, err
	}
	e.mu.Lock()
	t := &j.row.Transfer
	switch {
	case here == nil || !atWindow(*t):
	case here.Device() == t.Device:
		j.here = here // a running attempt uses the old one, and ends with it
	case t.State != protocol.TransferPaused && j.requested == nil:
		e.mu.Unlock()
		return protocol.Transfer{}, errElsewhere
	}
	defer e.Wake()
	switch {
	case j.cancel != nil && errors.Is(j.requested, errPaused): // the attempt has not ended yet
		j.requested = errResumed
	case j.cancel == nil && !j.hasEnded && t.State == protocol.TransferPaused:
		if t.State, t.Error = protocol.TransferQueued, j.waitReason(); t.Error != "" {
			t.State = protocol.TransferWaiting
		}
		now := *t
		j.putLocked()
		return now, nil
	}
	defer e.mu.Unlock()
	return *t, nil
}

// Cancel cancels a transfer. Unfinished files are removed; files that have arrived stay.
func (e *Engine) Cancel(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error) {
	j, ended, err := e.findQueued(ctx, in.ID, protocol.TransferCancelled)
	if j == nil {
		return ended, err
	}
	if j.stop(errCancelled) {
		return j.waitFor(ctx, j.done), nil
	}
	j.discard(ctx)
	j.finish(protocol.TransferCancelled, "")
	return j.view(), nil
}

// discard asks the destination of an inactive transfer to remove unfinished files, if the
// destination is connected.
func (j *job) discard(ctx context.Context) {
	t := j.view()
	if t.Attempts == 0 || t.Simple {
		return
	}
	s, release, err := j.connectEnd(t.To, "Destination")
	if err != nil {
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	s.event(ctx, protocol.EventTransferStop, protocol.TransferStop{Path: pathOf(t.Destination), Stream: &protocol.TransferStream{ID: t.ID, Into: t.Into}, Current: t.Current})
}

// Retry puts a failed or cancelled transfer into the queue again, under the same ID. Data that has
// arrived is not sent again. If the transfer is being cancelled, Retry waits for that first.
func (e *Engine) Retry(ctx context.Context, in protocol.TransferParams, here Window) (protocol.Transfer, error) {
	j, queued, err := e.reserve(ctx, in.ID, here)
	switch {
	case err != nil:
		return protocol.Transfer{}, err
	case queued != nil:
		return queued.view(), nil
	}
	row, err := e.store.Get(ctx, in.ID)
	t := &row.Transfer
	switch {
	case err != nil:
	case t.State == protocol.TransferDone:
		err = endedError(t.State)
	case here != nil && atWindow(*t) && here.Device() != t.Device:
		err = errElsewhere
	}
	t.State, t.Error, t.EndedAt, t.Failed, t.Skipped, t.Problems, t.ExpiresAt = protocol.TransferQueued, "", 0, 0, 0, nil, 0
	if err == nil {
		err = e.store.Put(ctx, row)
	}
	e.mu.Lock()
	j.releaseLocked()
	switch {
	case err == nil && e.closed:
		err = protocol.ErrUnavailable.With("the gateway is shutting down")
	case err == nil:
		(&job{e: e, row: row, here: here, done: make(chan struct{})}).addLocked()
	}
	e.mu.Unlock()
	if err != nil {
		return protocol.Transfer{}, err
	}
	defer e.Wake()
	publish(e.bus, row.Transfer)
	return row.Transfer, nil
}

// reserve waits until no other operation on an ended transfer is in progress, and blocks further
// ones until [job.release]. If the transfer is in the queue, reserve returns it as queued.
func (e *Engine) reserve(ctx context.Context, id protocol.TransferID, here Window) (j, queued *job, err error) {
	for {
		e.mu.Lock()
		other := e.jobs[id]
		if other != nil && !other.isCancelled {
			e.mu.Unlock()
			return nil, other, nil
		}
		if other == nil {
			other = e.inTransition[id]
		}
		if other == nil {
			j = &job{e: e, row: store.Transfer{Transfer: protocol.Transfer{ID: id}}, here: here, done: make(chan struct{})}
			e.inTransition[id] = j
			e.mu.Unlock()
			return j, nil, nil
		}
		e.mu.Unlock()
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// release ends the reservation of an ended transfer.
func (j *job) release() {
	j.e.mu.Lock()
	defer j.e.mu.Unlock()
	j.releaseLocked()
}

// releaseLocked is release for a caller that holds e.mu.
func (j *job) releaseLocked() {
	delete(j.e.inTransition, j.row.ID)
	close(j.done)
}

// Forget removes ended transfers from the history. It also removes the unfinished files of failed
// ones, because nobody can retry them any more.
func (e *Engine) Forget(ctx context.Context, in protocol.TransferForgetParams) (protocol.TransferForgetResult, error) {
	var failed []store.Transfer
	if list, _, err := e.store.List(ctx, store.TransferFilter{Finished: true, Limit: 500}); err == nil {
		for _, row := range list {
			if row.State == protocol.TransferFailed && (len(in.IDs) == 0 || slices.Contains(in.IDs, row.ID)) {
				failed = append(failed, row)
			}
		}
	}
	gone, err := e.store.Delete(ctx, in.IDs)
	for _, id := range gone {
		if i := slices.IndexFunc(failed, func(t store.Transfer) bool { return t.ID == id }); i >= 0 {
			(&job{e: e, row: failed[i]}).discard(ctx)
		}
		e.bus.Publish(protocol.Change{Kind: protocol.ChangeTransferRemoved, Transfer: &protocol.Transfer{ID: id}})
	}
	return protocol.TransferForgetResult{Removed: len(gone)}, err
}

// Unpaired fails the transfers of a device whose pairing has ended, as a node or as a window:
// another device may connect under the node's name, and nobody has approved transfers with that
// one. Partly received data is retained, and Retry puts such a transfer into the queue again.
func (e *Engine) Unpaired(d protocol.Device) {
	why := fmt.Sprintf("%s is no longer paired", d.Name)
	if d.NodeID != "" {
		why = fmt.Sprintf("%s is no longer paired", d.NodeID)
	}
	var rest []*job
	e.mu.Lock()
	for _, j := range e.order {
		switch t := &j.row.Transfer; {
		case d.NodeID == "" && t.Device != d.ID, d.NodeID != "" && t.From != d.NodeID && t.To != d.NodeID:
		case j.cancel != nil:
			j.cancel(final("%s", why))
		default:
			j.isCancelled = true
			rest = append(rest, j)
		}
	}
	e.mu.Unlock()
	for _, j := range rest {
		j.finish(protocol.TransferFailed, why)
	}
}
