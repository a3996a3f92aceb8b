package transfer

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Request describes a transfer to start.
type Request struct {
	protocol.TransferStartParams
	Call    protocol.CallID // of the agent or an app
	Allowed protocol.CallID // the call that was allowed; empty: Call
	Session protocol.SessionKey
	App     protocol.AppID
	Agent   protocol.AgentID
	AskedBy protocol.AskedBy
	Here    Window // the calling window; an end if a path is at protocol.Here
}

// pathOf returns the path of a validated endpoint.
func pathOf(endpoint string) string {
	_, path, _ := strings.Cut(endpoint, ":")
	return path
}

// Start adds a transfer to the queue and returns it. Its error messages are those of GSV where that
// has any.
func (e *Engine) Start(ctx context.Context, in Request) (protocol.Transfer, error) {
	now := time.Now()
	t := protocol.Transfer{
		ID: protocol.TransferID(protocol.NewID()), State: protocol.TransferQueued, Sources: in.Sources, Destination: in.Destination, Into: in.Into,
		Conflict: in.Conflict, Links: in.Links, Later: in.Later, AskedBy: in.AskedBy, Session: in.Session, App: in.App, CallID: in.Call, CreatedAt: now.UnixMilli(),
	}
	if err := check(&t); err != nil {
		return protocol.Transfer{}, err
	}
	j := newJob(e, store.Transfer{Transfer: t, Agent: in.Agent, Policy: e.policy(), Allowed: cmp.Or(in.Allowed, in.Call)}, in.Here)
	for _, end := range []struct {
		id   protocol.NodeID
		what string
	}{{t.From, "Source"}, {t.To, "Destination"}} {
		if end.id == protocol.NativePrefix {
			continue
		}
		if end.id == protocol.Here {
			if in.Here == nil {
				return protocol.Transfer{}, protocol.ErrBadRequest.With("only a window or command line can send or receive files on its own computer")
			}
			j.row.Device = in.Here.Device()
			continue
		}
		if _, _, ok := e.machines.Link(end.id); !ok {
			if !in.Later {
				return protocol.Transfer{}, protocol.ErrUnavailable.With(fmt.Sprintf("%s node not connected: %s", end.what, end.id))
			}
			j.row.State, j.row.Error = protocol.TransferWaiting, offlineText(end.id)
		}
	}
	if in.Later {
		j.row.ExpiresIn = max(in.ExpiresIn, 0)
		j.row.ExpiresAt = expiry(j.row.Transfer, now)
	}
	if err := e.store.Put(ctx, j.row); err != nil {
		return protocol.Transfer{}, err
	}
	t = j.row.Transfer
	e.mu.Lock()
	j.addLocked() // if the gateway is stopping, the next start runs it
	e.mu.Unlock()
	publish(e.bus, t)
	e.Wake()
	return t, nil
}

// expiry returns the time, in Unix milliseconds, until which a transfer waits for a node that has
// been offline since now.
func expiry(t protocol.Transfer, now time.Time) int64 {
	return now.UnixMilli() + cmp.Or(t.ExpiresIn, defaultExpiry.Milliseconds())
}

// check derives fields from the endpoints and validates them.
func check(t *protocol.Transfer) error {
	if len(t.Sources) == 0 {
		return protocol.ErrBadRequest.With("sources required")
	}
	for i, s := range t.Sources {
		from, err := protocol.ParseEndpoint(s, false)
		if err != nil {
			return err
		}
		if i > 0 && from.Node != t.From {
			return protocol.ErrBadRequest.With("All sources of a transfer must be on one machine")
		}
		t.From = from.Node
	}
	to, err := protocol.ParseEndpoint(t.Destination, true)
	if err != nil {
		return err
	}
	t.To = to.Node
	if len(t.Sources) > 1 || to.Path == "" || strings.HasSuffix(to.Path, "/") || strings.HasSuffix(to.Path, `\`) {
		t.Into = true
	}
	if t.Conflict == "" {
		t.Conflict = protocol.ConflictRename
	}
	if t.Links == "" {
		t.Links = protocol.LinksKeep
	}
	switch {
	case !slices.Contains([]string{protocol.ConflictRename, protocol.ConflictOverwrite, protocol.ConflictSkip}, t.Conflict):
		return protocol.ErrBadRequest.With("conflict must be rename, overwrite or skip")
	case !slices.Contains([]string{protocol.LinksKeep, protocol.LinksFollow, protocol.LinksSkip}, t.Links):
		return protocol.ErrBadRequest.With("links must be keep, follow or skip")
	case t.From == protocol.NativePrefix && t.To == protocol.NativePrefix:
		return protocol.ErrBadRequest.With("Cannot transfer from gsv to gsv")
	case t.From == protocol.Here && t.To == protocol.Here:
		return protocol.ErrBadRequest.With("Both ends are the same window or command line")
	}
	for _, s := range t.Sources {
		from := pathOf(s)
		dest := to.Path
		if t.Into {
			dest = path.Join(to.Path, path.Base(from))
		}
		if t.From == t.To && path.Clean(from) == path.Clean(dest) {
			return protocol.ErrBadRequest.With("Source and destination are the same file")
		}
	}
	return nil
}

// Wait waits until a transfer has ended, or has waited for an offline node for the time rest: then
// it continues later.
func (e *Engine) Wait(ctx context.Context, id protocol.TransferID, rest time.Duration) (protocol.Transfer, error) {
	j := jobOf(e, id)
	if j == nil {
		return e.Get(ctx, protocol.TransferParams{ID: id})
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var since time.Time
	for {
		select {
		case <-j.done:
			return j.view(), nil
		case <-ctx.Done():
			return j.view(), context.Cause(ctx)
		case now := <-tick.C:
			t := j.view()
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
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]protocol.Transfer, 0, len(e.order))
	for _, j := range e.order {
		if !j.row.Over() { // otherwise it is in the history
			list = append(list, j.row.Transfer)
		}
	}
	return list
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
		rows, n, err := e.store.List(ctx, store.TransferFilter{Finished: true, Node: in.Node, Offset: offset, Limit: limit})
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
	if j := jobOf(e, in.ID); j != nil {
		return j.view(), nil
	}
	row, err := e.store.Get(ctx, in.ID)
	return row.Transfer, err
}

// jobOf returns a job in the queue; nil for none.
func jobOf(e *Engine, id protocol.TransferID) *job {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.jobs[id]
}

func endedError(state string) error {
	return protocol.ErrConflict.With("The transfer has ended already: it is " + state)
}

// findQueued returns a queued transfer, after waiting for operations that end or restart it. For a
// transfer that is not in the queue and so cannot be changed it returns an error, or the transfer if
// it is in the state same.
func (e *Engine) findQueued(ctx context.Context, id protocol.TransferID, same string) (j *job, ended protocol.Transfer, err error) {
	for {
		e.mu.Lock()
		j, inTransition := e.jobs[id], e.inTransition[id]
		e.mu.Unlock()
		if j != nil {
			return j, ended, nil
		}
		if inTransition == nil {
			break
		}
		select {
		case <-inTransition.done:
		case <-ctx.Done():
			return nil, ended, context.Cause(ctx)
		}
	}
	row, err := e.store.Get(ctx, id)
	if err == nil && row.State != same {
		return nil, ended, endedError(row.State)
	}
	return nil, row.Transfer, err
}
