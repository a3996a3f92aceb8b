// Package grant lets the person choose what an app may do, and on which machines.
package grant

import (
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// offers are the scopes that an app can have, with a sentence about each.
var offers = []struct {
	scope protocol.Scope
	about string
}{
	{protocol.ScopeNetworkRead, "Their names, systems and whether they are online."},
	{protocol.ScopeFilesRead, "List, search and read files."},
	{protocol.ScopeFilesWrite, "Write, edit and delete files. Fairlead asks you first, unless a rule allows it."},
	{protocol.ScopeShell, "Fairlead asks you first, unless a rule allows it."},
	{protocol.ScopeNetRead, "Addresses, routes and name servers of your machines."},
	{protocol.ScopeForward, "Programs on these machines, through forwards. Fairlead does not ask you about each connection."},
	{protocol.ScopeNetworkWrite, "Create and delete the groups of your machines, as long as they are empty."},
	{protocol.ScopeNodeRegister, "Make commands that connect a new machine. Fairlead asks you before one connects."},
	{protocol.ScopeProvision, "Create and delete machines at your providers, which costs money. Fairlead always asks you first."},
	{protocol.ScopeService, "Give them addresses that browsers can open. Fairlead always asks you first."},
	{protocol.ScopeAllTools, "The tools of the agent and every tool of your machines, such as schedules and transfers."},
}

// Permissions are check boxes for scopes, with what each of them allows.
type Permissions struct {
	Box    *fyne.Container
	scopes []protocol.Scope
	checks []*widgets.Check
}

// NewPermissions offers scopes, of which those in on are checked. changed is called after each
// change by the person.
func NewPermissions(offered, on []protocol.Scope, changed func()) *Permissions {
	p := &Permissions{Box: widgets.Col(style.Gap)}
	for _, x := range offers {
		if !slices.Contains(offered, x.scope) {
			continue
		}
		check := widgets.NewCheck(Text(x.scope), func(bool) { changed() }, widgets.NewParagraph(x.about, style.ColorMuted, style.SizeSmall))
		check.Set(slices.Contains(on, x.scope))
		p.scopes, p.checks = append(p.scopes, x.scope), append(p.checks, check)
		p.Box.Add(check)
	}
	return p
}

// Text says what scopes permit: Read files and run commands.
func Text(scopes ...protocol.Scope) string {
	return format.Capital(format.Enumerate(protocol.Permissions(scopes...)))
}

// Chosen returns the checked scopes, never nil.
func (p *Permissions) Chosen() []protocol.Scope {
	list := []protocol.Scope{}
	for i, c := range p.checks {
		if c.Box.Checked {
			list = append(list, p.scopes[i])
		}
	}
	return list
}

// Machines lets the person choose all machines or some of them.
type Machines struct {
	Box    *fyne.Container
	ids    []protocol.NodeID
	some   *widgets.Select
	checks []*widgets.Check
}

// Texts of the choice between all machines and some.
const (
	AllMachines  = "All machines"
	SomeMachines = "Only these machines"
)

// NewMachines offers machines. some is whether only those in on are chosen at first, and not all.
// changed is called after each change by the person.
func NewMachines(list []protocol.NodeInfo, some bool, on []protocol.NodeID, changed func()) *Machines {
	m := &Machines{}
	rows := widgets.Col(0)
	add := func(id protocol.NodeID, name string) {
		check := widgets.NewCheck(name, func(bool) { changed() })
		check.Set(slices.Contains(on, id))
		m.ids, m.checks = append(m.ids, id), append(m.checks, check)
		rows.Add(check)
	}
	for _, n := range list {
		add(n.ID, n.DisplayName())
	}
	for _, id := range on { // a machine that is gone stays chosen: no choice would mean all
		if !slices.Contains(m.ids, id) {
			add(id, string(id))
		}
	}
	m.some = widgets.NewSelect([]string{AllMachines, SomeMachines}, nil)
	m.some.SetSelectedIndex(widgets.Choose(some, 1, 0))
	widgets.SetVisible(rows, some)
	m.some.OnChanged = func(text string) {
		widgets.SetVisible(rows, text == SomeMachines)
		changed()
	}
	m.Box = widgets.Col(style.Gap, widgets.LimitWidth(260, true, m.some), rows)
	return m
}

// Chosen returns the machines, empty for all. ok is false if the person must choose one first.
func (m *Machines) Chosen() (list []protocol.NodeID, ok bool) {
	if !m.IsSome() {
		return []protocol.NodeID{}, true
	}
	list = m.Checked()
	return list, len(list) > 0
}

// IsSome reports whether only the checked machines are chosen.
func (m *Machines) IsSome() bool { return m.some.SelectedIndex() == 1 }

// Checked returns the checked machines, also while all are chosen.
func (m *Machines) Checked() (list []protocol.NodeID) {
	for i, c := range m.checks {
		if c.Box.Checked {
			list = append(list, m.ids[i])
		}
	}
	return list
}

// NetworksText says on which machines an app that is limited to networks may work.
func NetworksText(machines, networks int) string {
	text := "the machines in " + format.Plural(networks, "network")
	if machines > 0 {
		text += " and " + format.Plural(machines, "other machine")
	}
	return text
}
