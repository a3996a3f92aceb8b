package stream

import (
	"context"
	"errors"
	"time"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// receive runs the destination's end of a transfer.
func (e *Ends) receive(ctx context.Context, n *end, p protocol.TransferReceive) {
	if p.Stream == nil {
		e.receiveFile(ctx, n, p)
		return
	}
	mark := partPrefixOf(p.Stream.ID)
	t, err := e.openTarget(ctx, p, mark)
	if err != nil {
		n.refuse(ctx, err)
		return
	}
	defer t.Root.Close()
	accept := protocol.TransferAcceptParams{TransferID: &n.id}
	listen := prepareDirect(e, p.Stream, func() (Listener, error) { return e.options.Direct.Destination(p.Stream.ID, *p.Stream.Peer) })
	if listen != nil {
		defer listen.Close()
		self := listen.Self()
		accept.Peer = &self
	}
	if !n.report(ctx, protocol.TransferAccept.Name, accept, false) {
		return
	}
	r := &Receiver{
		ID: n.id, Transfer: p.Stream.ID, Root: t.Root, Rename: t.Name, Conflict: p.Stream.Conflict, Out: e.options.Peer.SendFrame, In: n.in, checkpoints: e.options.Unfinished.checkpoints(mark, atDestination),
		OnFolder:  func(dir string) { e.options.Unfinished.addFolder(mark, t.path(dir)) },
		OnReplace: func() { e.options.Unfinished.addTrash(t.path(".")) },
	}
	if listen != nil {
		direct, stop := context.WithCancel(ctx)
		send, wait := e.acceptDirect(direct, n, listen)
		defer wait()
		defer stop()
		r.Out, r.Progress = send, e.options.Peer.SendFrame
	}
	res, err := r.Run(ctx)
	switch {
	case err == nil && res.Failed == 0 && p.Stream.Attempt <= 1:
		e.options.Unfinished.removeEntry(mark)
	case err == nil && res.Failed == 0: // an earlier attempt may have left unfinished files
		e.options.Unfinished.removeFiles(e.options.Files, mark, time.Time{})
	}
	if err != nil && ctx.Err() != nil {
		e.options.Log.Info("Receiving was interrupted", "transfer", p.Stream.ID, "err", context.Cause(ctx))
		return
	}
	if errors.Is(err, errDirectLost) {
		n.sendRoute(ctx, routeLost)
		return
	}
	done := doneParams(n.id, t, res, err)
	e.options.Log.Info("Received", "transfer", p.Stream.ID, "files", res.New, "skipped", res.Skipped, "failed", res.Failed, "bytes", res.Written, "err", err)
	n.report(ctx, protocol.TransferFinish.Name, done, true)
}

// openTarget opens the folder to write into, if the person's consent and the disk's space allow the
// transfer. mark is the prefix of its unfinished files.
func (e *Ends) openTarget(ctx context.Context, p protocol.TransferReceive, mark string) (Target, error) {
	if e.options.Consent != nil {
		if err := e.options.Consent(ctx, p); err != nil {
			return Target{}, err
		}
	}
	t, err := e.options.Files.Target(p.Path, p.Stream.Into, true)
	if err != nil {
		return t, err
	}
	untouched := e.options.Unfinished.isUnknown(mark)
	e.options.Unfinished.touch(mark)
	if p.Stream.Attempt <= 1 || untouched { // otherwise it is unknown how much of it is here
		if err := checkSpace(t.Root, p); err != nil {
			t.Root.Close()
			return t, errors.New(display.Capital(err.Error()))
		}
	}
	return t, nil
}

// doneParams returns the report about a result.
func doneParams(id uint32, t Target, res Result, err error) protocol.TransferDoneParams {
	done := protocol.TransferDoneParams{TransferID: &id, BytesWritten: &res.Written, Files: res.New, Skipped: res.Skipped, Failed: res.Failed, Problems: res.Problems, Kept: res.Replaced}
	if res.Top != "" {
		done.Path = t.path(res.Top)
	}
	if err != nil {
		done.Error = err.Error()
		if isDiskFull(err) {
			done.Error = diskFullText(err)
		}
	}
	return done
}
