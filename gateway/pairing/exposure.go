package pairing

import (
	"context"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// scopeWords say what a client with a scope may do.
var scopeWords = map[protocol.Scope]string{
	protocol.ScopeRead: "read everything", protocol.ScopeChat: "chat", protocol.ScopeInvoke: "use machines directly",
	protocol.ScopeApprove: "answer questions", protocol.ScopeAdmin: "change settings",
}

// Devices are the paired devices as ways in.
type Devices struct {
	Paired interface {
		List(context.Context) (protocol.DeviceListResult, error)
	}
}

// Exposures states what the paired devices reach.
func (s Devices) Exposures(ctx context.Context) ([]protocol.Exposure, error) {
	r, err := s.Paired.List(ctx)
	var list []protocol.Exposure
	now := time.Now()
	for _, d := range r.Devices {
		if d.RevokedAt > 0 || isExpired(d, now) {
			continue
		}
		e := protocol.Exposure{
			ID: protocol.ExposureDevice + ":" + string(d.ID), Kind: protocol.ExposureDevice, Title: d.Name, Reach: reach(d),
			IsInUse: d.Online, CreatedAt: d.PairedAt, LastUsedAt: d.LastSeenAt, ExpiresAt: d.ExpiresAt,
			Close: &protocol.ExposureClose{
				Button: "Revoke", Ends: "It loses its connection at once, and must be paired again to come back.",
				Call: protocol.NewCall(protocol.DeviceRevoke, protocol.DeviceParams{ID: d.ID}),
			},
		}
		if d.ExpiresAt == 0 {
			e.Warnings = []string{protocol.WarnNoExpiry}
		}
		list = append(list, e)
	}
	return list, err
}

// reach says what a device may do.
func reach(d protocol.Device) string {
	if d.Role == protocol.RoleNode {
		return "Runs calls as the machine " + string(d.NodeID) + ", and reaches nothing else here."
	}
	var may []string
	for _, s := range d.Scopes {
		if words, ok := scopeWords[s]; ok {
			may = append(may, words)
		}
	}
	return "A window or command line that may " + format.Enumerate(may) + "."
}
