package state

import (
	"fmt"
	"slices"
	"strings"
)

// GatewayLine is another gateway whose window can be opened.
type GatewayLine struct {
	ID, Name string
	Address  string // distinguishes it from another one of the same name; may be empty
	Needs    int    // number of pending approvals there, reported by its open window
}

// GatewayNames returns distinct display names of gateways: those with the same name include their
// address or the beginning of their ID.
func GatewayNames(list []GatewayLine) []string {
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

// With returns the tray with other gateways below the machines. Their pending approvals count like
// local ones. An empty list changes nothing.
func (t Tray) With(list []GatewayLine) Tray {
	if len(list) == 0 {
		return t
	}
	item := TrayItem{Label: "Gateways"}
	there, where := 0, ""
	for i, name := range GatewayNames(list) {
		needs := list[i].Needs
		if needs > 0 {
			if there += needs; where == "" || where == name {
				where = name
			} else {
				where = "other gateways"
			}
		}
		if i >= maxTrayItems {
			continue
		}
		label := name
		if needs > 0 {
			label = fmt.Sprintf("%s · needs you (%d)", name, needs)
		}
		item.Items = append(item.Items, TrayItem{Label: label, Do: TrayGateway, Gateway: list[i].ID})
	}
	t.Items = slices.Clone(t.Items)
	if there > 0 {
		item.Label = fmt.Sprintf("Gateways (%d)", there)
		if t.Needs == 0 && t.Icon != TrayError && t.Icon != TrayOffline {
			t.Status = Plural(there, "question waits", "questions wait") + " at " + where
			t.Items[0].Label = t.Status
		}
		if t.Icon != TrayError {
			t.Icon = TrayNeedsYou
		}
		t.Needs += there
	}
	at := slices.IndexFunc(t.Items, func(i TrayItem) bool { return i.Label == "Machines" })
	t.Items = slices.Insert(t.Items, at+1, item)
	return t
}
