package transfer

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// maxCleanups is the number of ended transfers among which the gateway looks for cancelled ones
// with unfinished files. Nodes also clean up by themselves.
const maxCleanups = 500

// mayHaveUnfinished reports whether a transfer's destination is a node that may have unfinished
// files.
func mayHaveUnfinished(t protocol.Transfer) bool {
	return t.Attempts > 0 && !t.Simple && t.To != protocol.NativePrefix && t.To != protocol.Here
}

// needsCleanup reports whether a cancelled transfer's removal of unfinished files is unconfirmed.
func needsCleanup(t protocol.Transfer) bool {
	return t.State == protocol.TransferCancelled && t.Current != "" && mayHaveUnfinished(t)
}

// cleanUp asks a node, or every node if it is empty, to remove the unfinished files of cancelled
// transfers. It is called for each connection until the node confirms, because a request may be
// lost with its connection.
func (e *Engine) cleanUp(ctx context.Context, node protocol.NodeID) {
	rows, _, err := e.store.List(ctx, store.TransferFilter{Finished: true, Node: node, Limit: maxCleanups})
	if err != nil {
		slog.Warn("Reading the cancelled transfers failed", "node", node, "err", err)
	}
	for _, row := range rows {
		if needsCleanup(row.Transfer) && (node == "" || row.To == node) {
			whileCancelled(ctx, e, row.ID, func(j *job) { j.discard(ctx) })
		}
	}
}

// whileCancelled calls f if a transfer is cancelled and its removal of unfinished files
// unconfirmed. Nobody can retry the transfer meanwhile.
func whileCancelled(ctx context.Context, e *Engine, id protocol.TransferID, f func(*job)) {
	j, queued, err := e.reserve(ctx, id, nil)
	if err != nil || queued != nil {
		return
	}
	defer j.release()
	row, err := e.store.Get(ctx, id)
	if err != nil || !needsCleanup(row.Transfer) {
		return
	}
	e.mu.Lock()
	j.row = row
	e.mu.Unlock()
	f(j)
}

// cleanupConfirmed handles a node's confirmation that a cancelled transfer has no unfinished files
// left. The returned function stores that; it does not block.
func (e *Engine) cleanupConfirmed(over Link, id protocol.TransferID) (proceed func()) {
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.closed {
			e.wg.Go(func() { whileCancelled(e.ctx, e, id, func(j *job) { j.recordCleanup(over) }) })
		}
	}
}

// recordCleanup records a confirmation if it comes from the destination.
func (j *job) recordCleanup(over Link) {
	t := j.view()
	if link, _, ok := j.e.machines.Link(t.To); !ok || any(link) != any(over) {
		return
	}
	if err := j.e.store.ClearCurrent(context.WithoutCancel(j.e.ctx), t.ID); err != nil {
		slog.Warn("Storing a transfer failed", "transfer", t.ID, "err", err) // the node confirms again at its next connection
		return
	}
	t.Current = ""
	publish(j.e.bus, t)
}

// undoLimit is the time limit for restoring the files that a transfer replaced.
const undoLimit = time.Minute

// setReplaced records that the destination retains the former versions of a number of files.
func setReplaced(t *protocol.Transfer, files int, now time.Time) {
	if files > 0 {
		t.Kept, t.KeptUntil, t.Undone = files, now.Add(stream.TrashAge).UnixMilli(), 0
	}
}

// UndoBy is [Engine.Undo] for a person. Where a person may not send files, they may not restore any
// either.
func (e *Engine) UndoBy(ctx context.Context, c Client, in protocol.TransferParams) (protocol.Transfer, error) {
	t, err := e.Get(ctx, in)
	if err != nil {
		return t, err
	}
	t.Session, t.AskedBy = "", c.AskedBy
	if _, err := authorizeAgain(ctx, e.authorizer, c.Principal, t, false); err != nil {
		return protocol.Transfer{}, err
	}
	return e.Undo(ctx, in, c.Window)
}

// Undo asks the destination of an ended transfer to restore the files that were replaced; the
// replacements go to the trash there. A file that was changed since stays as it is and is listed in
// the transfer's problems. here may be nil; it is the caller's connection, for a transfer whose
// destination was a window. Undo blocks until the node has finished.
func (e *Engine) Undo(ctx context.Context, in protocol.TransferParams, here Window) (protocol.Transfer, error) {
	j, queued, err := e.reserve(ctx, in.ID, here)
	switch {
	case err != nil:
		return protocol.Transfer{}, err
	case queued != nil:
		return protocol.Transfer{}, protocol.ErrConflict.With("The transfer has not ended yet. Cancel it first")
	}
	defer j.release()
	row, err := e.store.Get(ctx, in.ID)
	if err != nil {
		return protocol.Transfer{}, err
	}
	t := &row.Transfer
	if !t.Undoable(time.Now()) {
		text := "This transfer replaced no files that can be restored"
		if t.Undone > 0 {
			text = "The replaced files were already restored"
		}
		return protocol.Transfer{}, protocol.ErrConflict.With(text)
	}
	if here != nil && t.To == protocol.Here && here.Device() != t.Device {
		return protocol.Transfer{}, errElsewhere
	}
	e.mu.Lock()
	j.row = row
	e.mu.Unlock()
	out, err := j.undo(ctx)
	if err != nil {
		return protocol.Transfer{}, err
	}
	t.Undone, t.Problems = t.Undone+out.Back, out.Problems
	if t.Kept > 0 {
		if t.Kept = len(out.Problems); t.Kept == 0 { // the remaining files can be tried again
			t.KeptUntil = 0
		}
	}
	if err := e.store.Put(context.WithoutCancel(ctx), row); err != nil {
		return protocol.Transfer{}, err
	}
	publish(e.bus, *t)
	if out.Back == 0 && len(out.Problems) == 0 {
		return protocol.Transfer{}, protocol.ErrConflict.With("The replaced files are no longer available")
	}
	return *t, nil
}

// undo sends the request to the destination and waits for its result.
func (j *job) undo(ctx context.Context) (out protocol.TransferUndone, err error) {
	e := j.e
	t := j.view()
	s, release, err := j.connectEnd(t.To, "Destination")
	if err != nil {
		return out, protocol.ErrUnavailable.With(err.Error())
	}
	defer release()
	if !s.canUndo {
		return out, protocol.ErrUnavailable.With(fmt.Sprintf("%s cannot restore files: update Fairlead there", s.name))
	}
	result := make(chan protocol.TransferUndone, 1)
	e.mu.Lock()
	j.undone, j.undoOn = result, s.link
	e.mu.Unlock()
	path := pathOf(t.Destination)
	if err := s.event(ctx, protocol.EventTransferUndo, protocol.TransferUndoEvent{TransferID: e.number(), ID: t.ID, Path: path, Into: t.Into}); err != nil {
		return out, protocol.ErrUnavailable.With(err.Error())
	}
	silent := protocol.ErrTimeout.With(fmt.Sprintf("%s did not report the result", s.name))
	ctx, cancel := context.WithTimeoutCause(ctx, undoLimit, silent)
	defer cancel()
	select {
	case out = <-result:
	case <-s.link.Gone():
		return out, protocol.ErrUnavailable.With(fmt.Sprintf("Node disconnected: %s", s.name))
	case <-ctx.Done():
		return out, context.Cause(ctx)
	}
	if out.Error != "" {
		return out, protocol.ErrInternal.With(out.Error)
	}
	return out, nil
}
