package pairing

import (
	"cmp"
	"context"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Devices are the paired devices as ways in.
type Devices struct {
	Paired interface {
		List(context.Context) (protocol.DeviceListResult, error)
	}
	// MachineName returns the person's name of a machine; "" means that it has only its ID.
	MachineName func(protocol.NodeID) string
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
		name := cmp.Or(s.MachineName(d.NodeID), d.Name)
		e := protocol.Exposure{
			ID: protocol.ExposureDevice + ":" + string(d.ID), Kind: protocol.ExposureDevice, Title: name, Reach: reach(d, name),
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

// reach says what a device may do, which is called name if it is a machine.
func reach(d protocol.Device, name string) string {
	if d.Role == protocol.RoleNode {
		return "Runs calls as the machine " + name + ", and reaches nothing else here."
	}
	return "A window or command line that may " + format.Enumerate(protocol.Permissions(d.Scopes...)) + "."
}
