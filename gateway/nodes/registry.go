package nodes

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// saveEvery is the interval at which a node's last contact is stored, its error after a crash.
const saveEvery = 5 * time.Minute

// maxName limits a node's name, in characters.
const maxName = 60

// Forget removes a node (node.forget). It refuses to remove a connected node unless force is set:
// then it closes the connection first. The error messages are those of GSV.
func (h *Hub) Forget(ctx context.Context, p protocol.NodeForgetParams) (protocol.NodeForgetResult, error) {
	if p.NodeID == "" {
		return protocol.NodeForgetResult{}, protocol.ErrBadRequest.With("nodeId required")
	}
	h.mu.Lock()
	n := h.nodes[p.NodeID]
	if n != nil && n.link != nil && !p.Force {
		h.mu.Unlock()
		return protocol.NodeForgetResult{}, protocol.ErrConflict.With(fmt.Sprintf("Node %s is still connected (use force=true to disconnect and forget it)", p.NodeID))
	}
	if n != nil && n.link != nil && n.info.Local {
		h.mu.Unlock()
		return protocol.NodeForgetResult{}, protocol.ErrConflict.With(fmt.Sprintf("Node %s is part of this gateway: it can be forgotten once the gateway runs without it", p.NodeID))
	}
	if n != nil {
		n.saved = time.Now() // a ping must not store it again meanwhile
	}
	h.mu.Unlock()
	out := protocol.NodeForgetResult{OK: true, NodeID: p.NodeID, Removed: n != nil}
	if h.persist != nil {
		stored, err := h.persist.Delete(ctx, p.NodeID)
		if err != nil {
			return protocol.NodeForgetResult{}, err
		}
		out.Removed = out.Removed || stored
	}
	var link Link
	h.mu.Lock()
	if n = h.nodes[p.NodeID]; n != nil {
		link, n.link = n.link, nil
		delete(h.nodes, p.NodeID)
		h.Calls.failLocked(n, nodeGone, nil)
		if h.bus != nil {
			h.bus.Publish(protocol.Change{Kind: protocol.ChangeNodeForgotten, Node: &protocol.NodeInfo{ID: p.NodeID}})
		}
	}
	h.mu.Unlock()
	if link != nil {
		link.Close(protocol.CloseReplaced, protocol.ForgottenReason)
		out.Disconnected = true
	}
	if out.Removed {
		slog.Info("Node forgotten", "node", p.NodeID)
	}
	return out, nil
}

// Update changes the name and colour that the person gave a node.
func (h *Hub) Update(ctx context.Context, p protocol.NodesUpdateParams) (protocol.NodeInfo, error) {
	if p.NodeID == "" {
		return protocol.NodeInfo{}, protocol.ErrBadRequest.With("nodeId required")
	}
	if p.Colour != nil && *p.Colour != "" && !slices.Contains(protocol.NodeColours, *p.Colour) {
		return protocol.NodeInfo{}, protocol.ErrBadRequest.With(fmt.Sprintf("%.40q is not a machine colour: %s", *p.Colour, strings.Join(protocol.NodeColours, ", ")))
	}
	if p.Name != nil {
		name, err := cleanName(*p.Name)
		if err != nil {
			return protocol.NodeInfo{}, err
		}
		p.Name = &name
	}
	return h.change(ctx, p.NodeID, func(to *protocol.NodeInfo) {
		if p.Name != nil {
			to.Name = *p.Name
		}
		if p.Colour != nil {
			to.Colour = *p.Colour
		}
	})
}

// change changes what is known about a machine: apply is called for the stored one, then for the
// connected one.
func (h *Hub) change(ctx context.Context, id protocol.NodeID, apply func(*protocol.NodeInfo), lines ...protocol.AuditEntry) (protocol.NodeInfo, error) {
	h.mu.Lock()
	n := h.nodes[id]
	if n == nil {
		h.mu.Unlock()
		return protocol.NodeInfo{}, protocol.ErrNotFound.With(fmt.Sprintf("No machine is called %s", id))
	}
	info := n.info
	h.mu.Unlock()
	apply(&info)
	if h.persist != nil {
		if err := h.persist.Put(ctx, info, lines...); err != nil {
			return protocol.NodeInfo{}, fmt.Errorf("remember the machine: %w", err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if connected := h.nodes[id]; connected != nil { // it may have connected again meanwhile
		n = connected
	}
	apply(&n.info)
	publish(h.bus, n.info)
	return n.info, nil
}

func cleanName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case utf8.RuneCountInString(name) > maxName:
		return "", protocol.ErrBadRequest.With(fmt.Sprintf("a name may have %d characters", maxName))
	case !utf8.ValidString(name), strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", protocol.ErrBadRequest.With("a name may hold only characters that can be seen")
	}
	return name, nil
}

// setWarnings replaces what the node warns of, and reports whether that changed.
func (n *node) setWarnings(reported []string) (changed bool) {
	var warnings []string
	for _, w := range reported[:min(len(reported), maxWarnings)] {
		warnings = append(warnings, line(w))
	}
	changed = !slices.Equal(n.info.Warnings, warnings)
	n.info.Warnings = warnings
	return changed
}

// Pinged stores the measured round-trip time, and publishes a change of a tenth or more.
func (h *Hub) Pinged(id protocol.NodeID, link Link, took time.Duration) {
	now := time.Now()
	h.mu.Lock()
	n := h.nodes[id]
	if n == nil || n.link != link {
		h.mu.Unlock()
		return
	}
	ms := math.Round(float64(took.Microseconds())/10) / 100
	known := n.info.PingMs
	n.info.LastSeenAt, n.info.PingAt, n.info.PingMs = now.UnixMilli(), now.UnixMilli(), ms
	if math.Abs(ms-known) > known/10 {
		publish(h.bus, n.info)
	}
	isDue := now.Sub(n.saved) >= saveEvery
	if isDue {
		n.saved = now
	}
	info, stale, older := n.info, n.stale, n.older
	n.stale, n.older = nil, nil
	h.mu.Unlock()
	cancelLeftover(h.persist, id, link, stale, older) // a node that answers pings also receives events
	if isDue {
		save(context.Background(), h.persist, info)
	}
}

// Release makes a node's held tools available.
func (h *Hub) Release(id protocol.NodeID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := h.nodes[id]; n != nil && len(n.info.Held) > 0 {
		n.info.Held = nil
		publish(h.bus, n.info)
	}
}
