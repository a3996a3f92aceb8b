package transfer

import (
	"context"
	"slices"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// ask sends a message to the job of a transfer, which decides ([transitions]), and returns the
// transfer as the message has left it, and the job.
func (e *Engine) ask(ctx context.Context, id protocol.TransferID, m message) (protocol.Transfer, *job, error) {
	j, err := e.services.queue.open(e.services, id)
	if err != nil {
		return protocol.Transfer{}, nil, err
	}
	defer e.services.queue.release(j)
	t, err := j.ask(ctx, m)
	return t, j, err
}

// stopBy is ask for a message that stops a transfer: it waits some seconds for the attempt to stop.
func (e *Engine) stopBy(ctx context.Context, id protocol.TransferID, m message) (protocol.Transfer, error) {
	t, j, err := e.ask(ctx, id, m)
	if err != nil {
		return protocol.Transfer{}, err
	}
	if now := j.waitFor(ctx, j.workEnd()); now.State == t.State {
		return now, nil
	}
	return t, nil // it has been continued since
}

// continueBy is ask for a message that continues a transfer, by a client that could have started it.
// The client's window becomes the transfer's end on that computer if the transfer has one there.
func (e *Engine) continueBy(ctx context.Context, id protocol.TransferID, kind eventKind, c Client) (protocol.Transfer, error) {
	known, err := e.Get(ctx, protocol.TransferParams{ID: id})
	if err == nil {
		err = c.check(e.services.judge.authorizer, known)
	}
	if err != nil {
		return protocol.Transfer{}, err
	}
	t, _, err := e.ask(ctx, id, message{event: kind, window: c.Window})
	e.services.queue.Wake()
	return t, err
}

// Pause pauses a transfer until Resume.
func (e *Engine) Pause(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error) {
	return e.stopBy(ctx, in.ID, message{event: eventPause})
}

// Cancel cancels a transfer. Unfinished files are removed; files that have arrived stay.
func (e *Engine) Cancel(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error) {
	return e.stopBy(ctx, in.ID, message{event: eventCancel})
}

// Resume continues a paused transfer. The client is as for continueBy.
func (e *Engine) Resume(ctx context.Context, in protocol.TransferParams, c Client) (protocol.Transfer, error) {
	return e.continueBy(ctx, in.ID, eventResume, c)
}

// Retry puts a failed or cancelled transfer into the queue again, under the same ID. Data that has
// arrived is not sent again. If the transfer is being cancelled, Retry waits for that first.
func (e *Engine) Retry(ctx context.Context, in protocol.TransferParams, c Client) (protocol.Transfer, error) {
	return e.continueBy(ctx, in.ID, eventRetry, c)
}

// Undo asks the destination of an ended transfer to restore the files that were replaced; the
// replacements go to the trash there. A file that was changed since stays as it is and is listed in
// the transfer's problems. window may be nil; it is the caller's connection, for a transfer whose
// destination was a window. Undo blocks until the node has finished.
func (e *Engine) Undo(ctx context.Context, in protocol.TransferParams, window Window) (protocol.Transfer, error) {
	return e.continueBy(ctx, in.ID, eventUndo, Client{Window: window})
}

// Forget removes ended transfers from the history. It also removes the unfinished files of failed
// ones, because nobody can retry them any more.
func (e *Engine) Forget(ctx context.Context, in protocol.TransferForgetParams) (protocol.TransferForgetResult, error) {
	var failed []store.Transfer
	list, _, err := e.services.store.List(ctx, store.TransferFilter{Finished: true, Limit: 500})
	if err != nil {
		return protocol.TransferForgetResult{}, err
	}
	for _, row := range list {
		if row.State == protocol.TransferFailed && (len(in.IDs) == 0 || slices.Contains(in.IDs, row.ID)) {
			failed = append(failed, row)
		}
	}
	gone, err := e.services.store.Delete(ctx, in.IDs)
	for _, id := range gone {
		if i := slices.IndexFunc(failed, func(t store.Transfer) bool { return t.ID == id }); i >= 0 && mayDiscard(failed[i].Transfer) {
			e.services.ends.discard(ctx, failed[i], nil)
		}
		e.services.bus.Publish(protocol.Change{Kind: protocol.ChangeTransferRemoved, Transfer: &protocol.Transfer{ID: id}})
	}
	return protocol.TransferForgetResult{Removed: len(gone)}, err
}

// EndDevice ends the transfers of a device whose pairing has ended, as a node or as a window, and
// waits some seconds for that. Another device may connect under the node's name, and nobody has
// approved transfers with that one.
func (e *Engine) EndDevice(d protocol.Device) {
	isOfDevice, name := func(t protocol.Transfer) bool { return t.Device == d.ID }, d.Name
	if d.NodeID != "" {
		isOfDevice, name = func(t protocol.Transfer) bool { return t.From == d.NodeID || t.To == d.NodeID }, string(d.NodeID)
	}
	for _, j := range e.services.queue.revoke(name+" is no longer paired", isOfDevice) {
		j.waitFor(e.services.queue.workers.Context(), j.done)
	}
}

// CancelOf ends the transfers that an app has queued. It does not wait for their ends.
func (e *Engine) CancelOf(id protocol.AppID) {
	e.services.queue.revoke("The app that queued it may not transfer files any more", func(t protocol.Transfer) bool { return t.App == id })
}

// Limit ends the queued transfers of an app that may not transfer files any more.
func (e *Engine) Limit(app auth.Principal) {
	if tool.CheckAccess(app, protocol.NativePrefix, protocol.ScopeAllTools) != nil { // gsv__Transfer
		e.CancelOf(app.App)
	}
}
