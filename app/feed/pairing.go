package feed

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Pairing has the paired devices and the open invitations.
type Pairing struct {
	protocol.DeviceListResult
	Problem string // reason why loading failed
}

// Machine finds the pairing of a machine, if it is paired.
func (p Pairing) Machine(n protocol.NodeInfo) (protocol.Device, bool) {
	d, ok := p.Device(n.Device)
	return d, ok && d.Role == protocol.RoleNode
}

// Device finds a paired device.
func (p Pairing) Device(id protocol.DeviceID) (protocol.Device, bool) {
	return lists.Find(p.Devices, func(d protocol.Device) bool { return id != "" && d.ID == id })
}

// Clients returns the paired clients: active ones first, each group by name.
func (p Pairing) Clients() []protocol.Device {
	out := lists.Without(p.Devices, func(d protocol.Device) bool { return d.Role != protocol.RoleClient })
	slices.SortStableFunc(out, func(a, b protocol.Device) int {
		byName := cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		return cmp.Or(lists.TrueFirst(a.RevokedAt == 0, b.RevokedAt == 0), byName)
	})
	return out
}

// Client finds a device that is paired as a client.
func (p Pairing) Client(id protocol.DeviceID) (protocol.Device, bool) {
	d, ok := p.Device(id)
	return d, ok && d.Role == protocol.RoleClient
}

// LoadPairing loads the devices and invitations again.
func (f *Feed) LoadPairing() {
	refresh(f, &f.pairingLoads, f.Pairing, protocol.DeviceList, func(p *Pairing, r protocol.DeviceListResult, err error) {
		if err != nil { // a lost connection does not remove devices
			p.Problem = Sentence(err)
			return
		}
		*p = Pairing{DeviceListResult: r}
	})
}
