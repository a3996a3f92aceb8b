package state

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// MachineLine summarizes a machine: its system, latency and activity.
func MachineLine(v feed.View, n protocol.NodeInfo) string {
	running, pending := "", ""
	if n := len(v.Calls.On(n.ID)); n > 0 {
		running = wording.Plural(n, "call running", "calls running")
	}
	if len(n.Held) > 0 {
		pending = wording.Plural(len(n.Held), "tool needs", "tools need") + " your approval"
	}
	return wording.Join(" · ", PlatformText(n), running, pending)
}

// PlatformText returns the common name of a machine's system.
func PlatformText(n protocol.NodeInfo) string {
	if h := n.Host; h != nil && h.OS != "" {
		return wording.Join(", ", h.OS, h.Arch)
	}
	return n.Platform
}

// PresenceText describes whether a machine is online, and its latency.
func PresenceText(v feed.View, n protocol.NodeInfo, now time.Time) string {
	switch {
	case n.Online && n.Local && v.Status.Remote:
		return "the gateway's computer"
	case n.Online && n.Local:
		return "this computer"
	case n.Online && n.PingMs > 0 && n.PingMs < 1:
		return "under 1 ms"
	case n.Online && n.PingMs > 0:
		return fmt.Sprintf("%.0f ms", n.PingMs)
	case n.Online:
		return "online"
	}
	return lastSeen(n.LastSeenAt, now)
}

// OfflineText is a short text for a machine that is offline: since when, if that is a minute or more.
func OfflineText(n protocol.NodeInfo, now time.Time) string {
	if now.UnixMilli()-n.LastSeenAt < time.Minute.Milliseconds() || n.LastSeenAt == 0 {
		return "offline"
	}
	return format.Ago(n.LastSeenAt, now)
}

// lastSeen describes something that is offline.
func lastSeen(ms int64, now time.Time) string {
	if ms == 0 {
		return "never connected"
	}
	return "offline, last seen " + format.Ago(ms, now)
}

// FactsOf lists the known facts about a machine, and the details that matter to few people.
func FactsOf(v feed.View, n protocol.NodeInfo, now time.Time) (facts, details []wording.Fact) {
	var list, more wording.Facts
	presence := PresenceText(v, n, now)
	if n.Online && !n.Local && n.PingMs > 0 {
		presence = "online, " + presence
	}
	if n.Online && n.ConnectedAt > 0 {
		presence += ", connected since " + wording.When(n.ConnectedAt, now)
	}
	list.Add("Status", format.Capital(presence))
	list.Add("System", PlatformText(n))
	if h := n.Host; h != nil {
		more.Add("Computer name", h.Hostname)
		more.Add("User", h.User)
		more.Add("Workspace", h.Workspace)
		for _, f := range h.Folders {
			switch {
			case f.Path == h.Workspace:
			case f.ReadOnly:
				more.Add("Folder", f.Path+" (read only)")
			default:
				more.Add("Folder", f.Path)
			}
		}
		if h.WholeDisk {
			more.Add("Files", "The whole disk")
		}
		more.Add("Shell", h.Shell)
	}
	list.Add("Version", n.Version)
	list.Add("Need your approval", strings.Join(n.Held, ", "))
	if n.Direct {
		more.Add("Transfers", "Go directly to other machines on the local network")
	}
	more.Add("Tools", strings.Join(n.Tools, ", "))
	return list, more
}

// Machines changes the known machines.
type Machines struct{ app *App }

// Rename renames a machine; an empty name restores its own.
func (m Machines) Rename(id protocol.NodeID, name string) {
	feed.Start(m.app.Feed, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: id, Name: &name})
}

// SetColour sets a machine's [protocol.NodeColours]; empty is the automatic one.
func (m Machines) SetColour(id protocol.NodeID, colour string) {
	feed.Start(m.app.Feed, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: id, Colour: &colour})
}

// Forget removes a machine and revokes it, since it would otherwise reconnect. A notice says if the
// same device is still paired as a window. It blocks.
func (m Machines) Forget(ctx context.Context, n protocol.NodeInfo) error {
	var gone protocol.Device
	if n.Device != "" {
		var err error
		if gone, err = feed.Call(ctx, m.app, protocol.DeviceRevoke, protocol.DeviceParams{ID: n.Device}); err != nil {
			return err
		}
	}
	err := feed.Send(ctx, m.app, protocol.NodeForget, protocol.NodeForgetParams{NodeID: n.ID, Force: true})
	if err != nil || gone.Fingerprint == "" {
		return err
	}
	list, err := feed.Call(ctx, m.app, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return nil // already forgotten
	}
	for _, d := range list.Devices {
		if d.Fingerprint == gone.Fingerprint && d.ID != gone.ID && d.RevokedAt == 0 {
			m.app.Notify("warning", fmt.Sprintf("%s can still control Fairlead. To end that too, revoke it under Machines, Controllers.", d.Name))
		}
	}
	return nil
}

// Logs returns the last lines of a machine's log. It blocks.
func (m Machines) Logs(ctx context.Context, id protocol.NodeID) (string, error) {
	r, err := feed.Call(ctx, m.app, protocol.GetLogs, protocol.LogsGetParams{NodeID: id, Lines: new(300.0)})
	return strings.Join(r.Lines, "\n"), err
}
