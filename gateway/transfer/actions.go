package transfer

import (
	"context"
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
	err = j.request(actionPause, func(row *store.Transfer) error {
		if row.Simple && row.State == protocol.TransferRunning {
			return protocol.ErrConflict.With("One of the machines cannot pause. Cancel the transfer instead")
		}
		row.State, row.Error, row.Speed, row.ETA = protocol.TransferPaused, "", 0, 0
		return nil
	})
	if err != nil {
		return protocol.Transfer{}, err
	}
	return j.waitFor(ctx, j.stop(errPaused)), nil
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
	t := j.row.Transfer
	switch {
	case here == nil || !atWindow(t):
	case here.Device() == t.Device:
		j.here = here // a running attempt uses the old one, and ends with it
	case t.State != protocol.TransferPaused:
		e.mu.Unlock()
		return protocol.Transfer{}, errElsewhere
	}
	reason := j.waitReason()
	e.mu.Unlock()
	err = j.request(actionResume, func(row *store.Transfer) error {
		if row.State, row.Error = protocol.TransferQueued, reason; reason != "" {
			row.State = protocol.TransferWaiting
		}
		return nil
	})
	e.Wake()
	if err != nil {
		return protocol.Transfer{}, err
	}
	return j.view(), nil
}

// Cancel cancels a transfer. Unfinished files are removed; files that have arrived stay.
func (e *Engine) Cancel(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error) {
	j, ended, err := e.findQueued(ctx, in.ID, protocol.TransferCancelled)
	if j == nil {
		return ended, err
	}
	now := time.Now()
	err = j.request(actionCancel, func(row *store.Transfer) error {
		end(row, protocol.TransferCancelled, "", now)
		return nil
	})
	if err != nil {
		return protocol.Transfer{}, err
	}
	j.stop(errCancelled)
	e.mu.Lock()
	owned := j.cancel != nil
	e.mu.Unlock()
	if !owned {
		j.discard(ctx)
	}
	e.mu.Lock()
	j.leaveLocked() // unless an attempt is stopping, which does it later
	e.mu.Unlock()
	return j.waitFor(ctx, j.done), nil
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
	case actionRetry.check(t.State) != nil:
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
	if err == nil {
		newJob(e, row, here).addLocked() // if the gateway is stopping, the next start runs it
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
		if other != nil && !other.row.Over() {
			e.mu.Unlock()
			if !other.isOver() {
				return nil, other, nil
			}
			e.mu.Lock()
		}
		if other == nil {
			other = e.inTransition[id]
		}
		if other == nil {
			j = newJob(e, store.Transfer{Transfer: protocol.Transfer{ID: id}}, here)
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
	list, _, err := e.store.List(ctx, store.TransferFilter{Finished: true, Limit: 500})
	if err != nil {
		return protocol.TransferForgetResult{}, err
	}
	for _, row := range list {
		if row.State == protocol.TransferFailed && (len(in.IDs) == 0 || slices.Contains(in.IDs, row.ID)) {
			failed = append(failed, row)
		}
	}
	gone, err := e.store.Delete(ctx, in.IDs)
	for _, id := range gone {
		if i := slices.IndexFunc(failed, func(t store.Transfer) bool { return t.ID == id }); i >= 0 {
			newJob(e, failed[i], nil).discard(ctx)
		}
		e.bus.Publish(protocol.Change{Kind: protocol.ChangeTransferRemoved, Transfer: &protocol.Transfer{ID: id}})
	}
	return protocol.TransferForgetResult{Removed: len(gone)}, err
}

// Unpaired is for [Engine.Fail]: the transfers of a device whose pairing has ended, as a node or as a
// window. Another device may connect under the node's name, and nobody has approved transfers with
// that one.
func Unpaired(d protocol.Device) (why string, isMeant func(protocol.Transfer) bool) {
	if d.NodeID == "" {
		return d.Name + " is no longer paired", func(t protocol.Transfer) bool { return t.Device == d.ID }
	}
	return string(d.NodeID) + " is no longer paired", func(t protocol.Transfer) bool { return t.From == d.NodeID || t.To == d.NodeID }
}

// AppRevoked is for [Engine.Fail]: the transfers that an app has queued and may not make any more.
func AppRevoked(id protocol.AppID) (why string, isMeant func(protocol.Transfer) bool) {
	return "The app that queued it may not transfer files any more", func(t protocol.Transfer) bool { return t.App == id }
}

// Fail ends the queued transfers for which isMeant is true, with why as the reason. wait waits some
// seconds for their ends. Partly received data is retained, and Retry puts such a transfer into the
// queue again.
func (e *Engine) Fail(why string, isMeant func(protocol.Transfer) bool) (wait func()) {
	var affected []*job
	e.mu.Lock()
	for _, j := range e.order {
		if e.closed || !isMeant(j.row.Transfer) {
			continue
		}
		j.revoked = why
		if j.cancel == nil {
			j.ownLocked(func(context.Context) (outcome, error) { return outcome{}, final("%s", why) })
		}
		affected = append(affected, j)
	}
	e.mu.Unlock()
	var stopped []<-chan struct{}
	for _, j := range affected {
		stopped = append(stopped, j.stop(final("%s", why)))
	}
	return func() {
		for i, j := range affected {
			j.waitFor(e.ctx, stopped[i])
		}
	}
}
