package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Model changes the known machines and the paired devices. It is safe for concurrent use.
type Model struct{ feed *feed.Feed }

// Rename renames a machine; an empty name restores its own.
func (m Model) Rename(id protocol.NodeID, name string) {
	feed.Start(m.feed, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: id, Name: &name})
}

// SetColour sets a machine's [protocol.NodeColours]; empty is the automatic one.
func (m Model) SetColour(id protocol.NodeID, colour string) {
	feed.Start(m.feed, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: id, Colour: &colour})
}

// Forget removes a machine and revokes it, since it would otherwise reconnect. A notice says if the
// same device is still paired as a window. It blocks.
func (m Model) Forget(ctx context.Context, n protocol.NodeInfo) error {
	var gone protocol.Device
	if n.Device != "" {
		var err error
		if gone, err = feed.Call(ctx, m.feed, protocol.DeviceRevoke, protocol.DeviceParams{ID: n.Device}); err != nil {
			return err
		}
	}
	err := feed.Send(ctx, m.feed, protocol.NodeForget, protocol.NodeForgetParams{NodeID: n.ID, Force: true})
	if err != nil || gone.Fingerprint == "" {
		return err
	}
	list, err := feed.Call(ctx, m.feed, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return nil // already forgotten
	}
	for _, d := range list.Devices {
		if d.Fingerprint == gone.Fingerprint && d.ID != gone.ID && d.RevokedAt == 0 {
			m.feed.Notify("warning", fmt.Sprintf("%s can still control Fairlead. To end that too, revoke it under Machines, Controllers.", d.Name))
		}
	}
	return nil
}

// Logs returns the last lines of a machine's log. It blocks.
func (m Model) Logs(ctx context.Context, id protocol.NodeID) (string, error) {
	r, err := feed.Call(ctx, m.feed, protocol.GetLogs, protocol.LogsGetParams{NodeID: id, Lines: new(300.0)})
	return strings.Join(r.Lines, "\n"), err
}

// StopCall stops a running call. It blocks.
func (m Model) StopCall(ctx context.Context, id protocol.CallID) error {
	return feed.Send(ctx, m.feed, protocol.CallCancel, protocol.CallCancelParams{CallID: id})
}

// SetNetwork lets other machines reach the gateway, or not. It blocks.
func (m Model) SetNetwork(ctx context.Context, on bool) error {
	return feed.Set(ctx, m.feed, "network.enabled", on)
}

// Invite creates an invitation. It blocks.
func (m Model) Invite(ctx context.Context, p protocol.DeviceInviteParams) (protocol.DeviceInvite, error) {
	return feed.Call(ctx, m.feed, protocol.DeviceInviteTo, p)
}

// accessPeriod is a validity period of a pairing from now on, in days; 0 is unlimited.
type accessPeriod struct {
	Text string
	Days int
}

// accessPeriods are the available periods; the first is the default of an invitation.
var accessPeriods = []accessPeriod{{"Until revoked", 0}, {"For one day", 1}, {"For one week", 7}, {"For 30 days", 30}, {"For one year", 365}}

// expiry returns the expiry in Unix milliseconds; 0 is never.
func (e accessPeriod) expiry(now time.Time) int64 {
	if e.Days == 0 {
		return 0
	}
	return now.AddDate(0, 0, e.Days).UnixMilli()
}

// SetExpiry sets when a pairing expires, in Unix milliseconds, and its connections close; 0 is
// never. It returns a function that undoes that. It blocks.
func (m Model) SetExpiry(ctx context.Context, d protocol.Device, until int64) (undo func(), err error) {
	if err := feed.Send(ctx, m.feed, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &until}); err != nil {
		return nil, err
	}
	return func() {
		feed.Start(m.feed, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &d.ExpiresAt})
	}, nil
}

// hasExpired reports whether a device's pairing was revoked or has expired.
func hasExpired(d protocol.Device, now time.Time) bool {
	return d.RevokedAt > 0 || d.ExpiresAt > 0 && d.ExpiresAt <= now.UnixMilli()
}

// RenameClient renames a client; an empty name restores its computer's name.
func (m Model) RenameClient(d protocol.Device, name string) {
	if strings.TrimSpace(name) == "" {
		name = d.Hostname
	}
	feed.Start(m.feed, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, Name: &name})
}

// RevokeClient revokes a pairing, which stays in the list. This window's own device leaves instead:
// a revoked connection closes before the response. It blocks.
func (m Model) RevokeClient(ctx context.Context, id protocol.DeviceID) error {
	if id == m.feed.Status.Get().Device {
		return feed.Send(ctx, m.feed, protocol.DeviceLeave, protocol.Empty{})
	}
	return feed.Send(ctx, m.feed, protocol.DeviceRevoke, protocol.DeviceParams{ID: id})
}

// ForgetClient removes a client from the list. It blocks.
func (m Model) ForgetClient(ctx context.Context, id protocol.DeviceID) error {
	return feed.Send(ctx, m.feed, protocol.DeviceForget, protocol.DeviceParams{ID: id})
}

// Outcomes of an invitation.
const (
	inviteOpen   = "open"
	invitePaired = "paired" // a device used it
	inviteEnded  = "ended"  // it expired, or its request was denied
)

// inviteOutcome returns what became of an invitation, and the device that was paired with it.
func inviteOutcome(v feed.View, i protocol.DeviceInvite, now time.Time) (string, protocol.Device) {
	p := v.Pairing
	d, paired := lists.Find(p.Devices, func(d protocol.Device) bool {
		return d.Role == i.Role && d.PairedAt >= i.CreatedAt && d.RevokedAt == 0
	})
	isOpen := i.ExpiresAt > now.UnixMilli() && slices.ContainsFunc(p.Invites, func(o protocol.DeviceInvite) bool { return o.ID == i.ID }) ||
		slices.ContainsFunc(v.Questions.Pending.Of(protocol.AskPair, protocol.AskWiden), func(q protocol.Question) bool { return q.Pairing.Invite == i.ID })
	switch {
	case isOpen:
		return inviteOpen, protocol.Device{}
	case paired:
		return invitePaired, d
	}
	return inviteEnded, protocol.Device{}
}
