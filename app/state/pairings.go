package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// Pairing has the pending pairing requests and the open invitations.
type Pairing struct {
	protocol.DeviceListResult
	Problem string // reason why loading failed
}

// Pairings reads and changes the paired devices.
type Pairings struct{ app *App }

// Load loads it. It blocks.
func (p Pairings) Load(ctx context.Context) Pairing {
	r, err := Call(ctx, p.app, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return Pairing{Problem: Sentence(err)}
	}
	return Pairing{DeviceListResult: r}
}

// RequestText describes a pairing request, or the additional tools of a machine.
func RequestText(r protocol.DeviceRequest, now time.Time) string {
	who := cmp.Or(r.Device.Name, r.Device.Hostname)
	if r.Kind == protocol.RequestWiden {
		return who + " offers more than you allowed: " + strings.Join(r.Wider, "; ")
	}
	text := who + " wants to pair as a machine"
	if r.Device.Role == protocol.RoleClient {
		text = who + " wants to pair as a device that may " + RightsText(r.Device.Scopes)
	}
	if more := joinNonEmpty(", ", r.Device.OS, r.Device.Address); more != "" {
		text += " (" + more + ")"
	}
	if r.Device.ExpiresAt > 0 {
		text += ", until " + When(r.Device.ExpiresAt, now)
	}
	return text
}

// AccessPeriod is a validity period of a pairing from now on, in days; 0 is unlimited.
type AccessPeriod struct {
	Text string
	Days int
}

// AccessPeriods are the available periods; the first is the default of an invitation.
var AccessPeriods = []AccessPeriod{{"Until revoked", 0}, {"For a day", 1}, {"For a week", 7}, {"For 30 days", 30}, {"For a year", 365}}

// Expiry returns the expiry in Unix milliseconds; 0 is never.
func (e AccessPeriod) Expiry(now time.Time) int64 {
	if e.Days == 0 {
		return 0
	}
	return now.AddDate(0, 0, e.Days).UnixMilli()
}

// AccessText describes a device's new expiry. A device whose pairing had expired may have
// stopped: it is refused once and does not try again.
func AccessText(v View, d protocol.Device, until int64, now time.Time) string {
	name := d.Name
	if d.Role == protocol.RoleNode {
		name = v.MachineName(d.NodeID)
	}
	text := fmt.Sprintf("“%s” has access until %s.", name, When(until, now))
	switch {
	case until == 0:
		text = fmt.Sprintf("“%s” has access until you revoke it.", name)
	case until <= now.UnixMilli():
		return fmt.Sprintf("Access for “%s” has ended.", name)
	}
	if HasExpired(d, now) {
		text += " Restart it there."
	}
	return text
}

func accessFact(d protocol.Device, now time.Time) MachineFact {
	if d.ExpiresAt > 0 {
		return MachineFact{"Access", "Until " + When(d.ExpiresAt, now)}
	}
	return MachineFact{"Access", "Until revoked"}
}

// Machine finds the pairing of a machine, if it is paired.
func (p Pairing) Machine(n protocol.NodeInfo) (protocol.Device, bool) {
	d, ok := p.Device(n.Device)
	return d, ok && d.Role == protocol.RoleNode
}

// Device finds a paired device.
func (p Pairing) Device(id protocol.DeviceID) (protocol.Device, bool) {
	return find(p.Devices, func(d protocol.Device) bool { return id != "" && d.ID == id })
}

// MachineFacts lists the known facts about a machine and its pairing.
func (p Pairing) MachineFacts(v View, n protocol.NodeInfo, now time.Time) []MachineFact {
	facts := FactsOf(v, n, now)
	d, ok := p.Machine(n)
	if !ok {
		return facts
	}
	switch {
	case d.RevokedAt > 0:
		facts[0].Text = "Revoked " + When(d.RevokedAt, now) + byText(d.RevokedBy)
	case HasExpired(d, now):
		facts[0].Text = "Expired " + When(d.ExpiresAt, now)
	default:
		facts = slices.Insert(facts, 1, accessFact(d, now))
	}
	if d.PairedAt > 0 {
		facts = append(facts, MachineFact{"Paired", display.Capital(When(d.PairedAt, now)) + byText(d.PairedBy)})
	}
	return facts
}

// SetExpiry sets when a pairing expires, in Unix milliseconds, and its connections close; 0 is
// never. It returns a function that undoes that. It blocks.
func (p Pairings) SetExpiry(ctx context.Context, d protocol.Device, until int64) (undo func(), err error) {
	if _, err := Call(ctx, p.app, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &until}); err != nil {
		return nil, err
	}
	return func() {
		callInBackground(p.app, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &d.ExpiresAt})
	}, nil
}
