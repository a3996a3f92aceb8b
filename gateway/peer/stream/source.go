package stream

import (
	"context"
	"errors"

	"fairlead/gateway/protocol"
)

// send runs the source's end of a transfer.
func (e *Ends) send(ctx context.Context, n *end, p protocol.TransferSend) {
	if p.Stream == nil {
		if !p.List || !e.listFolder(ctx, n, p) {
			e.sendFile(ctx, n, p)
		}
		return
	}
	items, err := openItems(e.options.Files, p.Stream.Paths)
	defer closeItems(items)
	var load Totals
	if err == nil {
		load, err = Count(ctx, items, p.Stream.Links)
	}
	if err != nil {
		n.refuse(ctx, err)
		return
	}
	meta := protocol.TransferMetaParams{TransferID: &n.id, Files: load.Files, Size: &load.Bytes, Holes: load.Holes, Mime: mimeOfOne(items)}
	call := prepareDirect(e, p.Stream, func() (Caller, error) { return e.options.Direct.Source(p.Stream.ID) })
	if call != nil {
		self := call.Self()
		meta.Peer = &self
	}
	if !n.report(ctx, protocol.TransferMeta.Name, meta, false) {
		return
	}
	destination, err := n.waitStart(ctx)
	if err != nil {
		return
	}
	e.options.Log.Info("Sending", "transfer", p.Stream.ID, "attempt", p.Stream.Attempt, "files", load.Files, "bytes", load.Bytes)
	s := &Sender{ID: n.id, Items: items, Links: p.Stream.Links, Out: e.options.Peer.SendFrame, In: n.in, Share: &e.share, checkpoints: e.options.Unfinished.checkpoints(partPrefixOf(p.Stream.ID), atSource)}
	direct := e.dialDirect(ctx, n, call, destination)
	if direct != nil {
		s.Out, s.Share = direct.send, nil
	} else {
		e.share.running.Add(1)
		defer e.share.running.Add(-1)
	}
	err = s.Run(ctx)
	done := protocol.TransferCompleteParams{TransferID: &n.id}
	if err != nil {
		if ctx.Err() != nil {
			e.options.Log.Info("Sending was interrupted", "transfer", p.Stream.ID, "err", err)
			return
		}
		if errors.Is(err, errDirectLost) {
			n.sendRoute(ctx, routeLost)
			return
		}
		done.Error = err.Error()
	}
	n.report(ctx, protocol.TransferComplete.Name, done, true)
	if direct != nil {
		<-direct.closed // by the destination, once it has read everything, or with ctx
	}
}

// waitStart waits for transfer.start, and returns the destination that listens for a direct
// connection, or nil.
func (n *end) waitStart(ctx context.Context) (*protocol.TransferPeer, error) {
	select {
	case destination := <-n.started:
		return destination, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// openItems opens what is to be sent. The caller closes the items, also after an error.
func openItems(files Files, paths []string) (items []Item, err error) {
	for _, path := range paths {
		item, err := files.Source(path)
		if err != nil {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

func closeItems(items []Item) {
	for _, i := range items {
		i.Root.Close()
	}
}
