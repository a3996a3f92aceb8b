package gateways

import (
	"strings"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

// Line is another gateway whose window can be opened.
type Line struct {
	ID, Name string
	Address  string // distinguishes it from another one of the same name; may be empty
	Needs    int    // number of pending approvals there, reported by its open window
}

// Names returns display names of gateways, distinct by their address or ID if needed.
func Names(list []Line) []string {
	count := map[string]int{}
	for _, g := range list {
		count[strings.ToLower(g.Name)]++
		count[strings.ToLower(g.Name)+" "+g.Address]++
	}
	names := make([]string, len(list))
	for i, g := range list {
		name := strings.ToLower(g.Name)
		switch {
		case count[name] == 1:
			names[i] = g.Name
		case g.Address != "" && count[name+" "+g.Address] == 1:
			names[i] = g.Name + " · " + g.Address
		default:
			names[i] = g.Name + " · " + g.ID[:min(len(g.ID), 8)]
		}
	}
	return names
}

// DistinctName returns the name of a paired gateway, made distinct from others of the same name.
func DistinctName(peers []identity.Peer, peer identity.Peer) string {
	lines := linesOf(peers)
	for i, name := range Names(lines) {
		if lines[i].ID == string(peer.Pin) {
			return name
		}
	}
	return peer.Name
}

// linesOf returns the gateways whose windows can be opened.
func linesOf(peers []identity.Peer) (lines []Line) {
	for _, p := range peers {
		if p.Role != protocol.RoleClient || p.HasEnded() {
			continue
		}
		line := Line{ID: string(p.Pin), Name: p.Name}
		if len(p.Addresses) > 0 {
			line.Address = p.Addresses[0]
		}
		lines = append(lines, line)
	}
	return lines
}
