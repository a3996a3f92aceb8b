package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Pairings reads and changes the paired devices.
type Pairings struct{ app *App }

// AccessPeriod is a validity period of a pairing from now on, in days; 0 is unlimited.
type AccessPeriod struct {
	Text string
	Days int
}

// AccessPeriods are the available periods; the first is the default of an invitation.
var AccessPeriods = []AccessPeriod{{"Until revoked", 0}, {"For one day", 1}, {"For one week", 7}, {"For 30 days", 30}, {"For one year", 365}}

// Expiry returns the expiry in Unix milliseconds; 0 is never.
func (e AccessPeriod) Expiry(now time.Time) int64 {
	if e.Days == 0 {
		return 0
	}
	return now.AddDate(0, 0, e.Days).UnixMilli()
}

// AccessText describes a new expiry. A device that had expired does not connect by itself.
func AccessText(v feed.View, d protocol.Device, until int64, now time.Time) string {
	name := d.Name
	if d.Role == protocol.RoleNode {
		name = v.Machines.Name(d.NodeID)
	}
	text := fmt.Sprintf("“%s” has access until %s.", name, wording.When(until, now))
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

func accessFact(d protocol.Device, now time.Time) wording.Fact {
	if d.ExpiresAt > 0 {
		return wording.Fact{Name: "Access", Text: "Until " + wording.When(d.ExpiresAt, now)}
	}
	return wording.Fact{Name: "Access", Text: "Until revoked"}
}

// PairedFacts lists the known facts about a machine and its pairing, and the details.
func PairedFacts(p feed.Pairing, v feed.View, n protocol.NodeInfo, now time.Time) (facts, details []wording.Fact) {
	facts, details = FactsOf(v, n, now)
	d, ok := p.Machine(n)
	if n.Host != nil && n.Host.Address != "" {
		facts = append(facts, wording.Fact{Name: "Address", Text: n.Host.Address})
	} else if d.Address != "" {
		facts = append(facts, wording.Fact{Name: "Address", Text: d.Address})
	}
	if !ok {
		return facts, details
	}
	facts = append(facts, wording.Fact{Name: "Fingerprint", Text: format.Words(d.Words)})
	switch {
	case d.RevokedAt > 0:
		facts[0].Text = "Revoked " + wording.When(d.RevokedAt, now) + wording.By(d.RevokedBy)
	case HasExpired(d, now):
		facts[0].Text = "Expired " + wording.When(d.ExpiresAt, now)
	default:
		facts = slices.Insert(facts, 1, accessFact(d, now))
	}
	if d.PairedAt > 0 {
		details = append(details, wording.Fact{Name: "Paired", Text: format.Capital(wording.When(d.PairedAt, now)) + wording.By(d.PairedBy)})
	}
	return facts, details
}

// SetExpiry sets when a pairing expires, in Unix milliseconds, and its connections close; 0 is
// never. It returns a function that undoes that. It blocks.
func (p Pairings) SetExpiry(ctx context.Context, d protocol.Device, until int64) (undo func(), err error) {
	if err := feed.Send(ctx, p.app, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &until}); err != nil {
		return nil, err
	}
	return func() {
		feed.Start(p.app.Feed, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &d.ExpiresAt})
	}, nil
}

// HasExpired reports whether a device's pairing was revoked or has expired.
func HasExpired(d protocol.Device, now time.Time) bool {
	return d.RevokedAt > 0 || d.ExpiresAt > 0 && d.ExpiresAt <= now.UnixMilli()
}

// ClientPresence describes whether a client is connected, active, or this window's device.
func ClientPresence(v feed.View, d protocol.Device, now time.Time) string {
	switch {
	case d.RevokedAt > 0:
		return "revoked"
	case HasExpired(d, now):
		return "expired"
	case d.ID == v.Status.Device:
		return "this device"
	case d.Online:
		return "online"
	}
	return lastSeen(d.LastSeenAt, now)
}

var rightsText = []struct {
	scope protocol.Scope
	text  string
}{
	{protocol.ScopeRead, "view"},
	{protocol.ScopeChat, "chat"},
	{protocol.ScopeInvoke, "run tools"},
	{protocol.ScopeApprove, "answer approvals"},
	{protocol.ScopeAdmin, "change settings"},
}

// RightsText describes what a client may do: look and chat.
func RightsText(scopes []protocol.Scope) string {
	var may []string
	for _, r := range rightsText {
		if slices.Contains(scopes, r.scope) {
			may = append(may, r.text)
		}
	}
	switch n := len(may); n {
	case 0:
		return "do nothing"
	case 1:
		return may[0]
	case len(rightsText):
		return "do everything you can"
	default:
		return strings.Join(may[:n-1], ", ") + " and " + may[n-1]
	}
}

// ClientLine summarizes a client: permissions, expiry, system and address.
func ClientLine(d protocol.Device, now time.Time) string {
	may := "May " + RightsText(d.Scopes)
	if HasExpired(d, now) {
		may = ""
	} else if d.ExpiresAt > 0 {
		may += " until " + wording.When(d.ExpiresAt, now)
	}
	return wording.Join(" · ", may, systemName(d.OS), d.Address)
}

func systemName(os string) string {
	names := map[string]string{"linux": "Linux", "windows": "Windows", "android": "Android", "darwin": "macOS", "ios": "iOS"}
	return cmp.Or(names[os], os)
}

// ClientFacts lists the known facts about a client.
func ClientFacts(p feed.Pairing, v feed.View, d protocol.Device, now time.Time) []wording.Fact {
	var list wording.Facts
	switch {
	case d.RevokedAt > 0:
		list.Add("Status", "Revoked "+wording.When(d.RevokedAt, now)+wording.By(d.RevokedBy))
	case HasExpired(d, now):
		list.Add("Status", "Expired "+wording.When(d.ExpiresAt, now))
	default:
		list.Add("Status", format.Capital(ClientPresence(v, d, now)))
		list.Add("Permissions", format.Capital(RightsText(d.Scopes)))
		list = append(list, accessFact(d, now))
	}
	list.Add("Fingerprint", format.Words(d.Words))
	if d.RotatedAt > 0 && !HasExpired(d, now) {
		list.Add("Token", "Replaced. The device fetches the new token when it connects")
	}
	list.Add("System", systemName(d.OS))
	list.Add("Version", d.Version)
	list.Add("Host", wording.Join(", ", d.Hostname, d.Address))
	if d.LastSeenAt > 0 && HasExpired(d, now) { // otherwise the heading shows it
		list.Add("Last seen", format.Capital(wording.When(d.LastSeenAt, now)))
	}
	if d.PairedAt > 0 {
		list.Add("Paired", format.Capital(wording.When(d.PairedAt, now))+wording.By(d.PairedBy))
	}
	for _, m := range p.Devices {
		if m.Role == protocol.RoleNode && m.RevokedAt == 0 && d.Fingerprint != "" && m.Fingerprint == d.Fingerprint {
			list.Add("Machine", "The same device is also the machine "+v.Machines.Name(m.NodeID)+", which stays paired when this access is revoked")
		}
	}
	return list
}

// RenameClient renames a client; an empty name restores its computer's name.
func (p Pairings) RenameClient(d protocol.Device, name string) {
	if strings.TrimSpace(name) == "" {
		name = d.Hostname
	}
	feed.Start(p.app.Feed, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, Name: &name})
}

// RevokeClient revokes a pairing, which stays in the list. This window's own device leaves instead:
// a revoked connection closes before the response. It blocks.
func (p Pairings) RevokeClient(ctx context.Context, id protocol.DeviceID) error {
	if id == p.app.View().Status.Device {
		return feed.Send(ctx, p.app, protocol.DeviceLeave, protocol.Empty{})
	}
	return feed.Send(ctx, p.app, protocol.DeviceRevoke, protocol.DeviceParams{ID: id})
}

// ForgetClient removes a client from the list. It blocks.
func (p Pairings) ForgetClient(ctx context.Context, id protocol.DeviceID) error {
	return feed.Send(ctx, p.app, protocol.DeviceForget, protocol.DeviceParams{ID: id})
}
