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
	// IsAwaited means that Call waits for the end, and reports it.
	IsAwaited bool
	Session   protocol.SessionKey
	App       protocol.AppID
	Agent     protocol.AgentID
	AskedBy   protocol.AskedBy
	Here      Window // the calling window; an end if a path is at protocol.Here
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
	j := newJob(e.services, store.Transfer{Transfer: t, Agent: in.Agent, Policy: e.services.judge.version(), Allowed: cmp.Or(in.Allowed, in.Call)}, in.Here)
	j.record.isAwaited = in.IsAwaited
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
			j.live.row.Device = in.Here.Device()
			continue
		}
		if _, _, ok := e.services.machines.Link(end.id); !ok {
			if !in.Later {
				return protocol.Transfer{}, protocol.ErrUnavailable.With(fmt.Sprintf("%s node not connected: %s", end.what, end.id))
			}
			j.live.row.State, j.live.row.Error = protocol.TransferWaiting, offlineText(end.id)
		}
	}
	if in.Later {
		j.live.row.ExpiresIn = max(in.ExpiresIn, 0)
		j.live.row.ExpiresAt = expiry(j.live.row.Transfer, now)
	}
	if err := e.services.store.Put(ctx, j.live.row); err != nil {
		return protocol.Transfer{}, err
	}
	t = j.live.row.Transfer
	e.services.queue.add(j)
	publish(e.services.bus, t)
	e.services.queue.Wake()
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
