package transfer

import (
	"context"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Wait waits until a transfer has ended, or has waited for an offline node for the time rest: then
// it continues later.
func (e *Engine) Wait(ctx context.Context, id protocol.TransferID, rest time.Duration) (protocol.Transfer, error) {
	j := e.services.queue.find(id)
	if j == nil {
		return e.Get(ctx, protocol.TransferParams{ID: id})
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var since time.Time
	for {
		select {
		case <-j.done:
			return j.live.view(), nil
		case <-ctx.Done():
			return j.live.view(), context.Cause(ctx)
		case now := <-tick.C:
			t := j.live.view()
			switch {
			case t.State == protocol.TransferRunning || t.State == protocol.TransferQueued:
				since = time.Time{}
			case since.IsZero():
				since = now
			case now.Sub(since) >= rest:
				return t, nil
			}
		}
	}
}

// Open lists the transfers that have not ended, in order of creation.
func (e *Engine) Open() []protocol.Transfer {
	jobs := e.services.queue.list()
	list := make([]protocol.Transfer, 0, len(jobs))
	for _, j := range jobs {
		if t := j.live.view(); !t.Over() { // otherwise it is in the history
			list = append(list, t)
		}
	}
	return list
}

// IsOpen reports whether a call has queued a transfer that has not ended.
func (e *Engine) IsOpen(call protocol.CallID) bool {
	return slices.ContainsFunc(e.services.queue.list(), func(j *job) bool {
		j.live.mu.Lock()
		defer j.live.mu.Unlock()
		return j.live.row.Allowed == call && !j.live.row.Over()
	})
}

// List returns the queue, or a page of the history.
func (e *Engine) List(ctx context.Context, in protocol.TransferListParams) (protocol.TransferListResult, error) {
	limit := in.Limit
	if limit <= 0 {
		limit = 100
	}
	limit = min(limit, 500)
	offset := max(in.Offset, 0)
	out := protocol.TransferListResult{Transfers: []protocol.Transfer{}}
	if in.History {
		rows, n, err := e.services.store.List(ctx, store.TransferFilter{Finished: true, Node: in.Node, Offset: offset, Limit: limit})
		for _, r := range rows {
			out.Transfers = append(out.Transfers, r.Transfer)
		}
		out.Count = n
		return out, err
	}
	for _, t := range e.Open() {
		if in.Node != "" && t.From != in.Node && t.To != in.Node {
			continue
		}
		if out.Count++; out.Count > offset && len(out.Transfers) < limit {
			out.Transfers = append(out.Transfers, t)
		}
	}
	return out, nil
}

// Get returns one transfer, from the queue or the history.
func (e *Engine) Get(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error) {
	if j := e.services.queue.find(in.ID); j != nil {
		if t := j.live.view(); t.State != "" { // otherwise the job reads it at this moment
			return t, nil
		}
	}
	row, err := e.services.store.Get(ctx, in.ID)
	return row.Transfer, err
}
