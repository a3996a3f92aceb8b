package state

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// PairingEnd is how long a pairing may hold from now on, in days; 0 is without an end.
type PairingEnd struct {
	Words string
	Days  int
}

// PairingEnds are the ends to choose from; the first is that of an invitation unless another one is chosen.
var PairingEnds = []PairingEnd{{"Without an end", 0}, {"For a day", 1}, {"For a week", 7}, {"For 30 days", 30}, {"For a year", 365}}

// At is the end in Unix milliseconds; 0 is none.
func (e PairingEnd) At(now time.Time) int64 {
	if e.Days == 0 {
		return 0
	}
	return now.AddDate(0, 0, e.Days).UnixMilli()
}

// PairingUntil says until when a device is let in now. One whose time was over may have stopped: it is refused once and does not ask again.
func PairingUntil(v View, d protocol.Device, until int64, now time.Time) string {
	name := d.Name
	if d.Role == protocol.RoleNode {
		name = v.MachineName(d.NodeID)
	}
	text := fmt.Sprintf("“%s” is let in until %s.", name, When(until, now))
	switch {
	case until == 0:
		text = fmt.Sprintf("“%s” is let in until you revoke it.", name)
	case until <= now.UnixMilli():
		return fmt.Sprintf("“%s” is let in no more.", name)
	}
	if PairingEnded(d, now) {
		text += " Start it there again."
	}
	return text
}

// letIn says until when a device that is still let in may come.
func letIn(d protocol.Device, now time.Time) MachineFact {
	if d.ExpiresAt > 0 {
		return MachineFact{"Let in", "Until " + When(d.ExpiresAt, now)}
	}
	return MachineFact{"Let in", "Until you revoke it"}
}

// Machine finds the pairing of a machine; one that is not paired has none.
func (p Pairing) Machine(n protocol.NodeInfo) (protocol.Device, bool) {
	d, ok := p.Device(n.Device)
	return d, ok && d.Role == protocol.RoleNode
}

// Device finds a device that was paired.
func (p Pairing) Device(id protocol.DeviceID) (protocol.Device, bool) {
	for _, d := range p.Devices {
		if id != "" && d.ID == id {
			return d, true
		}
	}
	return protocol.Device{}, false
}

// MachineFacts lists what is known about a machine and its pairing.
func (p Pairing) MachineFacts(v View, n protocol.NodeInfo, now time.Time) []MachineFact {
	facts := FactsOf(v, n, now)
	d, ok := p.Machine(n)
	if !ok {
		return facts
	}
	switch {
	case d.RevokedAt > 0:
		facts[0].Text = "Revoked " + When(d.RevokedAt, now) + byWhom(d.RevokedBy)
	case PairingEnded(d, now):
		facts[0].Text = "Its time ended " + When(d.ExpiresAt, now)
	default:
		facts = slices.Insert(facts, 1, letIn(d, now))
	}
	if d.PairedAt > 0 {
		facts = append(facts, MachineFact{"Paired", protocol.Capital(When(d.PairedAt, now)) + byWhom(d.PairedBy)})
	}
	return facts
}

// SetPairingEnd has a device's pairing end at a time, in Unix milliseconds, 0 being never, and returns what has it end when it did. When its time is over
// its connections end. It blocks.
func (a *App) SetPairingEnd(ctx context.Context, d protocol.Device, until int64) (undo func(), err error) {
	if _, err := Call(ctx, a, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &until}); err != nil {
		return nil, err
	}
	return func() { act(a, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &d.ExpiresAt}) }, nil
}
