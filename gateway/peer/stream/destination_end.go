package stream

import (
	"context"
	"errors"
	"time"

	"fairlead/gateway/protocol"
)

// receive runs the destination's end of a transfer.
func (e *Ends) receive(ctx context.Context, n *end, p protocol.TransferReceive) {
	if p.Stream == nil {
		e.receiveFile(ctx, n, p)
		return
	}
	accept := protocol.TransferAcceptParams{TransferID: &n.id}
	refuse := func(err error) {
		accept.Error = err.Error()
		e.report(ctx, n, protocol.TransferAccept.Name, accept, false)
	}
	if e.consent != nil {
		if err := e.consent(ctx, p); err != nil {
			refuse(err)
			return
		}
	}
	t, err := e.files.Target(p.Path, p.Stream.Into, true)
	if err != nil {
		refuse(err)
		return
	}
	defer t.Root.Close()
	mark := partPrefixOf(p.Stream.ID)
	untouched := e.unfinished.isUnknown(mark)
	defer e.unfinished.beginAttempt(mark)()
	if p.Stream.Attempt <= 1 || untouched { // otherwise it is unknown how much of it is here
		if err := checkSpace(t.Root, p); err != nil {
			refuse(errors.New(protocol.Capital(err.Error())))
			return
		}
	}
	var listen Listener
	if e.direct != nil && p.Stream.Peer != nil {
		if listen, err = e.direct.Destination(p.Stream.ID, *p.Stream.Peer); err == nil {
			defer listen.Close()
			self := listen.Self()
			accept.Peer = &self
		} else {
			e.log.Warn("Direct connection unavailable", "transfer", p.Stream.ID, "err", err)
		}
	}
	accepted := make(chan struct{})
	go func() { // data that has arrived already is written while transfer.accept is on its way
		defer close(accepted)
		if !e.report(ctx, n, protocol.TransferAccept.Name, accept, false) {
			n.cancel(errLost)
		}
	}()
	defer func() { <-accepted }()
	trail, over := e.unfinished.openCheckpoints(mark, atDestination)
	defer trail.close()
	res, err := e.receiveItems(ctx, n, listen, func(first bool) *Receiver {
		r := &Receiver{
			ID: n.id, Transfer: p.Stream.ID, Root: t.Root, Rename: t.Name, Conflict: p.Stream.Conflict, Out: e.sendFrame, In: n.in, checkpoints: trail,
			OnFolder:  func(dir string) { e.unfinished.addFolder(mark, t.path(dir)) },
			OnReplace: func() { e.unfinished.addTrash(t.path(".")) },
		}
		if first {
			r.Early = min(max(p.Stream.Early, 0), Early)
		}
		return r
	})
	switch {
	case errors.Is(context.Cause(ctx), ErrDiscard):
		trail.close()
		e.unfinished.removeCheckpoints(mark, atDestination)
	case err == nil && res.Failed == 0:
		over()
	}
	switch {
	case err == nil && res.Failed == 0 && p.Stream.Attempt <= 1 && !res.restarted:
		e.unfinished.removeEntry(mark)
	case err == nil && res.Failed == 0, errors.Is(context.Cause(ctx), ErrDiscard): // an earlier attempt may have left unfinished files
		e.unfinished.removeFiles(e.files, mark, time.Time{})
	}
	if err != nil && ctx.Err() != nil {
		e.log.Info("Receiving was interrupted", "transfer", p.Stream.ID, "err", context.Cause(ctx))
		if errors.Is(context.Cause(ctx), ErrDiscard) {
			e.discarded(n.id, p.Stream.ID)
		}
		return
	}
	done := protocol.TransferDoneParams{TransferID: &n.id, BytesWritten: &res.Written, Files: res.New, Skipped: res.Skipped, Failed: res.Failed, Problems: res.Problems, Kept: res.Replaced}
	if res.Top != "" {
		done.Path = t.path(res.Top)
	}
	if err != nil {
		if done.Error = err.Error(); isDiskFull(err) {
			done.Error = diskFullText(err)
		}
	}
	e.log.Info("Received", "transfer", p.Stream.ID, "files", res.New, "skipped", res.Skipped, "failed", res.Failed, "bytes", res.Written, "err", err)
	e.report(ctx, n, protocol.TransferFinish.Name, done, true)
}
