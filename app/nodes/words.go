package nodes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/machine"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// machineLine summarizes a machine: its system, latency and activity.
func machineLine(v feed.View, n protocol.NodeInfo) string {
	running, pending := "", ""
	if n := len(v.Calls.On(n.ID)); n > 0 {
		running = format.Plural(n, "call running", "calls running")
	}
	if len(n.Held) > 0 {
		pending = format.Plural(len(n.Held), "tool needs", "tools need") + " your approval"
	}
	return wording.Join(" · ", platformText(n), running, pending)
}

// platformText returns the common name of a machine's system.
func platformText(n protocol.NodeInfo) string {
	if h := n.Host; h != nil && h.OS != "" {
		return wording.Join(", ", h.OS, h.Arch)
	}
	return n.Platform
}

// factsOf lists the known facts about a machine, and the details that matter to few people.
func factsOf(v feed.View, n protocol.NodeInfo, now time.Time) (facts, details []wording.Fact) {
	var list, more wording.Facts
	presence := machine.Presence(v, n, now)
	if n.Online && !n.Local && n.PingMs > 0 {
		presence = "online, " + presence
	}
	if n.Online && n.ConnectedAt > 0 {
		presence += ", connected since " + format.When(n.ConnectedAt, now)
	}
	list.Add("Status", format.Capital(presence))
	list.Add("System", platformText(n))
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

// accessText describes a new expiry. A device that had expired does not connect by itself.
func accessText(v feed.View, d protocol.Device, until int64, now time.Time) string {
	name := d.Name
	if d.Role == protocol.RoleNode {
		name = v.Machines.Name(d.NodeID)
	}
	text := fmt.Sprintf("“%s” has access until %s.", name, format.When(until, now))
	switch {
	case until == 0:
		text = fmt.Sprintf("“%s” has access until you revoke it.", name)
	case until <= now.UnixMilli():
		return fmt.Sprintf("Access for “%s” has ended.", name)
	}
	if hasExpired(d, now) {
		text += " Restart it there."
	}
	return text
}

func accessFact(d protocol.Device, now time.Time) wording.Fact {
	if d.ExpiresAt > 0 {
		return wording.Fact{Name: "Access", Text: "Until " + format.When(d.ExpiresAt, now)}
	}
	return wording.Fact{Name: "Access", Text: "Until revoked"}
}

// pairedFacts lists the known facts about a machine and its pairing, and the details.
func pairedFacts(p feed.Pairing, v feed.View, n protocol.NodeInfo, now time.Time) (facts, details []wording.Fact) {
	facts, details = factsOf(v, n, now)
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
		facts[0].Text = "Revoked " + format.When(d.RevokedAt, now) + wording.By(d.RevokedBy)
	case hasExpired(d, now):
		facts[0].Text = "Expired " + format.When(d.ExpiresAt, now)
	default:
		facts = slices.Insert(facts, 1, accessFact(d, now))
	}
	if d.PairedAt > 0 {
		details = append(details, wording.Fact{Name: "Paired", Text: format.Capital(format.When(d.PairedAt, now)) + wording.By(d.PairedBy)})
	}
	return facts, details
}

// clientPresence describes whether a client is connected, active, or this window's device.
func clientPresence(v feed.View, d protocol.Device, now time.Time) string {
	switch {
	case d.RevokedAt > 0:
		return "revoked"
	case hasExpired(d, now):
		return "expired"
	case d.ID == v.Status.Device:
		return "this device"
	case d.Online:
		return "online"
	}
	return machine.LastSeen(d.LastSeenAt, now)
}

// clientLine summarizes a client: permissions, expiry, system and address.
func clientLine(d protocol.Device, now time.Time) string {
	may := "May " + question.RightsText(d.Scopes)
	if hasExpired(d, now) {
		may = ""
	} else if d.ExpiresAt > 0 {
		may += " until " + format.When(d.ExpiresAt, now)
	}
	return wording.Join(" · ", may, question.SystemName(d.OS), d.Address)
}

// clientFacts lists the known facts about a client.
func clientFacts(p feed.Pairing, v feed.View, d protocol.Device, now time.Time) []wording.Fact {
	var list wording.Facts
	switch {
	case d.RevokedAt > 0:
		list.Add("Status", "Revoked "+format.When(d.RevokedAt, now)+wording.By(d.RevokedBy))
	case hasExpired(d, now):
		list.Add("Status", "Expired "+format.When(d.ExpiresAt, now))
	default:
		list.Add("Status", format.Capital(clientPresence(v, d, now)))
		list.Add("Permissions", format.Capital(question.RightsText(d.Scopes)))
		list = append(list, accessFact(d, now))
	}
	list.Add("Fingerprint", format.Words(d.Words))
	if d.RotatedAt > 0 && !hasExpired(d, now) {
		list.Add("Token", "Replaced. The device fetches the new token when it connects")
	}
	list.Add("System", question.SystemName(d.OS))
	list.Add("Version", d.Version)
	list.Add("Host", wording.Join(", ", d.Hostname, d.Address))
	if d.LastSeenAt > 0 && hasExpired(d, now) { // otherwise the heading shows it
		list.Add("Last seen", format.Capital(format.When(d.LastSeenAt, now)))
	}
	if d.PairedAt > 0 {
		list.Add("Paired", format.Capital(format.When(d.PairedAt, now))+wording.By(d.PairedBy))
	}
	for _, m := range p.Devices {
		if m.Role == protocol.RoleNode && m.RevokedAt == 0 && d.Fingerprint != "" && m.Fingerprint == d.Fingerprint {
			list.Add("Machine", "The same device is also the machine "+v.Machines.Name(m.NodeID)+", which stays paired when this access is revoked")
		}
	}
	return list
}
