package stream

import (
	"context"
	"errors"

	"fairlead/gateway/protocol"
)

// send runs the source's end of a transfer.
func (e *Ends) send(ctx context.Context, n *end, p protocol.TransferSend) {
	switch {
	case p.Stream != nil:
	case p.List && e.listFolder(ctx, n, p):
		return
	default:
		e.sendFile(ctx, n, p)
		return
	}
	var items []Item
	var err error
	for _, path := range p.Stream.Paths {
		item, release, sourceErr := e.files.Source(path)
		if err = sourceErr; err != nil {
			break
		}
		defer release()
		items = append(items, item)
	}
	meta := protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64)}
	if err == nil {
		var load Totals
		load, err = Count(ctx, items, p.Stream.Links)
		meta.Files, *meta.Size, meta.Holes = load.Files, load.Bytes, load.Holes
		meta.Mime = mimeOfOne(items)
	}
	if err != nil {
		meta.Error = err.Error()
		e.report(ctx, n, protocol.TransferMeta.Name, meta, false)
		return
	}
	var call Caller
	near := p.Stream.Peer != nil && p.Stream.Peer.Near
	if e.direct != nil && p.Stream.Peer != nil && (near || *meta.Size >= e.minDirect) {
		if call, err = e.direct.Source(p.Stream.ID); err == nil {
			self := call.Self()
			meta.Peer = &self
		} else {
			e.log.Warn("Direct connection unavailable", "transfer", p.Stream.ID, "err", err)
		}
	}
	if !e.report(ctx, n, protocol.TransferMeta.Name, meta, false) || !n.waitStart(ctx) {
		return
	}
	e.log.Info("Sending", "transfer", p.Stream.ID, "attempt", p.Stream.Attempt, "files", meta.Files, "bytes", *meta.Size)
	mark := partPrefixOf(p.Stream.ID)
	trail, over := e.unfinished.openCheckpoints(mark, atSource)
	defer trail.close()
	if near && len(n.peerAddress) == 0 { // it arrives before transfer.start, or never
		call = nil
	}
	err = e.sendItems(ctx, n, call, near, func(first bool) *Sender {
		s := &Sender{ID: n.id, Items: items, Links: p.Stream.Links, checkpoints: trail}
		if first {
			s.Early = min(max(p.Stream.Early, 0), Early)
		}
		return s
	})
	switch {
	case errors.Is(context.Cause(ctx), ErrDiscard):
		trail.close()
		e.unfinished.removeCheckpoints(mark, atSource)
	case err == nil:
		over()
	}
	done := protocol.TransferCompleteParams{TransferID: &n.id}
	if err != nil {
		if ctx.Err() != nil {
			e.log.Info("Sending was interrupted", "transfer", p.Stream.ID, "err", err)
			return
		}
		done.Error = err.Error()
	}
	e.report(ctx, n, protocol.TransferComplete.Name, done, true)
}

// waitStart waits for transfer.start.
func (n *end) waitStart(ctx context.Context) bool {
	select {
	case <-n.startReceived:
		return true
	case <-ctx.Done():
		return false
	}
}
