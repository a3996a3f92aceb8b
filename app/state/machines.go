package state

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// NameOf returns a machine's display name.
func NameOf(n protocol.NodeInfo) string {
	if n.Name != "" {
		return n.Name
	}
	return string(n.ID)
}

// MachineName returns the display name of a machine ID, even if the machine no longer exists.
func (v View) MachineName(id protocol.NodeID) string {
	if n, ok := v.Node(id); ok {
		return NameOf(n)
	}
	return string(id)
}

// ChatName returns the display name of a chat key, even if the chat no longer exists.
func (v View) ChatName(key protocol.SessionKey) string {
	for _, s := range v.Sessions {
		if s.SessionKey == key {
			return TitleOf(s)
		}
	}
	return string(key)
}

// named returns a name, followed by the ID in the records if that differs.
func named(name, id string) string {
	if name == id || id == "" {
		return name
	}
	return name + " (" + id + ")"
}

// Node finds a machine.
func (v View) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	for _, n := range v.Nodes {
		if n.ID == id {
			return n, true
		}
	}
	return protocol.NodeInfo{}, false
}

// CallsOn returns the calls in progress on a machine.
func (v View) CallsOn(id protocol.NodeID) []protocol.CallInfo {
	return drop(v.Calls, func(c protocol.CallInfo) bool { return c.Node != id || c.Over() })
}

// MachineLine summarizes a machine: its system, latency and activity.
func MachineLine(v View, n protocol.NodeInfo) string {
	parts := []string{PlatformText(n)}
	if running := len(v.CallsOn(n.ID)); running > 0 {
		parts = append(parts, Plural(running, "call runs", "calls run"))
	}
	if len(n.Held) > 0 {
		parts = append(parts, Plural(len(n.Held), "tool waits", "tools wait")+" for your yes")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// PlatformText returns the common name of a machine's system.
func PlatformText(n protocol.NodeInfo) string {
	text := n.Platform
	if h := n.Host; h != nil && h.OS != "" {
		text = h.OS
		if h.Arch != "" {
			text += ", " + h.Arch
		}
	}
	return text
}

// PresenceText describes whether a machine is online, and its latency.
func PresenceText(v View, n protocol.NodeInfo, now time.Time) string {
	switch {
	case n.Online && n.Local && v.Elsewhere:
		return "the gateway's computer"
	case n.Online && n.Local:
		return "this computer"
	case n.Online && n.PingMs > 0 && n.PingMs < 1:
		return "under 1 ms"
	case n.Online && n.PingMs > 0:
		return fmt.Sprintf("%.0f ms", n.PingMs)
	case n.Online:
		return "online"
	case n.LastSeenAt == 0:
		return "never seen"
	}
	return "last seen " + When(n.LastSeenAt, now)
}

// MachineFact is one known fact about a machine.
type MachineFact struct{ Name, Text string }

// FactsOf lists the known facts about a machine.
func FactsOf(v View, n protocol.NodeInfo, now time.Time) (facts []MachineFact) {
	add := func(name, text string) {
		if text != "" {
			facts = append(facts, MachineFact{name, text})
		}
	}
	presence := PresenceText(v, n, now)
	if n.Online && n.ConnectedAt > 0 {
		presence += ", connected since " + When(n.ConnectedAt, now)
	}
	add("Presence", protocol.Capital(presence))
	add("System", PlatformText(n))
	add("Program", n.Version)
	if h := n.Host; h != nil {
		where := h.Hostname
		if h.Address != "" {
			where = strings.TrimPrefix(where+", "+h.Address, ", ")
		}
		add("Host", where)
		add("User", h.User)
		add("Workspace", h.Workspace)
		add("Shell", h.Shell)
		for _, f := range h.Folders {
			switch {
			case f.Path == h.Workspace:
			case f.ReadOnly:
				add("Folder", f.Path+" (read only)")
			default:
				add("Folder", f.Path)
			}
		}
		if h.WholeDisk {
			add("Files", "The whole disk")
		}
	}
	if n.Direct {
		add("Transfers", "Straight to machines on its network that may too")
	}
	add("Tools", strings.Join(n.Tools, ", "))
	add("Capabilities", strings.Join(n.Caps, ", "))
	add("Waiting tools", strings.Join(n.Held, ", "))
	return facts
}

// RenameMachine renames a machine; an empty name restores its own.
func (a *App) RenameMachine(id protocol.NodeID, name string) {
	act(a, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: id, Name: &name})
}

// ColourMachine sets a machine's colour, one of [protocol.NodeColours]; empty restores the
// automatic one.
func (a *App) ColourMachine(id protocol.NodeID, colour string) {
	act(a, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: id, Colour: &colour})
}

// ForgetMachine removes a machine from the list and closes its connection. A paired machine is
// revoked first, since it would otherwise reconnect. The result says if the same device is still
// paired as a window, which the person may want to revoke as well. It blocks.
func (a *App) ForgetMachine(ctx context.Context, n protocol.NodeInfo) error {
	var gone protocol.Device
	if n.Device != "" {
		var err error
		if gone, err = Call(ctx, a, protocol.DeviceRevoke, protocol.DeviceParams{ID: n.Device}); err != nil {
			return err
		}
	}
	if _, err := Call(ctx, a, protocol.NodeForget, protocol.NodeForgetParams{NodeID: n.ID, Force: true}); err != nil || gone.Fingerprint == "" {
		return err
	}
	list, err := Call(ctx, a, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return nil // already forgotten
	}
	for _, d := range list.Devices {
		if d.Fingerprint == gone.Fingerprint && d.ID != gone.ID && d.RevokedAt == 0 {
			a.Notify("warning", fmt.Sprintf("The windows of %s are still let in. To end that too, revoke it under Machines, Paired windows.", d.Name))
		}
	}
	return nil
}

// Logs returns the last lines of a machine's log. It blocks.
func (a *App) Logs(ctx context.Context, id protocol.NodeID) (string, error) {
	n := 300.0
	r, err := Call(ctx, a, protocol.GetLogs, protocol.LogsGetParams{NodeID: id, Lines: &n})
	return strings.Join(r.Lines, "\n"), err
}

// Pairing has the pending pairing requests and the open invitations.
type Pairing struct {
	protocol.DeviceListResult
	Problem string // reason why loading failed
}

// LoadPairing loads it. It blocks.
func (a *App) LoadPairing(ctx context.Context) Pairing {
	r, err := Call(ctx, a, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return Pairing{Problem: sentence(err)}
	}
	return Pairing{DeviceListResult: r}
}

// RequestText describes a pairing request and its expiry, or the additional tools of a machine, in
// a sentence.
func RequestText(r protocol.DeviceRequest, now time.Time) string {
	who := r.Device.Name
	if who == "" {
		who = r.Device.Hostname
	}
	if r.Kind == protocol.RequestWiden {
		return who + " offers more than you allowed: " + strings.Join(r.Wider, "; ")
	}
	text := who + " wants to be paired as a machine"
	if r.Device.Role == protocol.RoleClient {
		text = who + " wants to be paired as a window that may " + RightsText(r.Device.Scopes)
	}
	var more []string
	for _, s := range []string{r.Device.OS, r.Device.Address} {
		if s != "" {
			more = append(more, s)
		}
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	if r.Device.ExpiresAt > 0 {
		text += ", until " + When(r.Device.ExpiresAt, now)
	}
	return text
}
