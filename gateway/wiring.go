package gateway

import (
	"cmp"
	"context"
	"net/http"

	"fairlead/gateway/auth"
	"fairlead/gateway/journal"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// configChanged passes a changed setting to the parts that do not read it each time.
func (g *Gateway) configChanged(path string) {
	switch path {
	case "auth.token":
		if v, ok := g.config.Secret(path); ok {
			if err := g.tokens.Set(keychain.Secret(v)); err != nil {
				g.log.Error("The new token could not be stored; the old one stays valid", "err", err)
			}
		}
	case "session", "session.mainKey":
		if err := g.sessions.MainKeyChanged(context.Background()); err != nil {
			g.log.Error("The notice in the former main chat could not be posted", "err", err)
		}
	}
	g.schedules.Wake()
	g.network.Reload()
	g.bus.Publish(protocol.Change{Kind: protocol.ChangeConfig, Path: path})
	g.publishStatus()
}

// currentStatus returns the gateway's state, which every client shows.
func (g *Gateway) currentStatus(context.Context) protocol.Status {
	s, cfg := g.fixedStatus, g.config.Get()
	s.Paused, s.Storage = g.sessions.Paused()
	s.Missing = g.config.Missing()
	s.Model = protocol.ModelRef{Provider: cfg.Model.Provider, ID: cfg.Model.ID}
	s.MainSession = cfg.MainSession()
	return s
}

func (g *Gateway) publishStatus() {
	s := g.currentStatus(context.Background())
	g.bus.Publish(protocol.Change{Kind: protocol.ChangeStatus, Status: &s})
}

// remindOfApproval notifies the person over a channel of an approval that nobody has seen.
func (g *Gateway) remindOfApproval(ctx context.Context, a protocol.Approval) error {
	sent, err := g.channels.NotifyApproval(ctx, a, cmp.Or(g.machineName(a.Node), string(a.Node)))
	if err != nil || !sent {
		return err
	}
	return g.gate.Shown(ctx, protocol.ApprovalShownParams{ID: a.ID, Surface: protocol.SurfaceChannel})
}

// machineName returns the person's name of a machine, or "".
func (g *Gateway) machineName(id protocol.NodeID) string {
	n, _ := g.hub.Node(id)
	return n.Name
}

// checkOrigin accepts requests to the listener's own address besides those to this machine.
func (g *Gateway) checkOrigin(r *http.Request) error {
	host := ""
	if at, ok := g.listenAddr(); ok && !at.IP.IsUnspecified() {
		host = at.IP.String()
	}
	return auth.CheckOrigin(r, host)
}

// cancelTransfersOf cancels the transfers of a device that is no longer paired, unless another
// machine has its name by now.
func (g *Gateway) cancelTransfersOf(d protocol.Device) {
	if n, known := g.hub.Node(d.NodeID); known && n.Device != d.ID {
		return
	}
	g.transfers.Unpaired(d)
}

func (g *Gateway) audit() journal.Audit {
	return journal.Audit{Audit: g.store.Audit, Secrets: g.secrets}
}
