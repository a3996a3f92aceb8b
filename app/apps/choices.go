package apps

import (
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// permissions are check boxes for scopes, with what each of them allows.
type permissions struct {
	box    *fyne.Container
	scopes []protocol.Scope
	checks []*widgets.Check
}

// newPermissions offers scopes, of which those in on are checked. changed is called after each
// change by the person.
func newPermissions(offered, on []protocol.Scope, changed func()) *permissions {
	p := &permissions{box: widgets.Col(style.Gap)}
	for _, x := range Permissions {
		if !slices.Contains(offered, x.Scope) {
			continue
		}
		check := widgets.NewCheck(x.Text, func(bool) { changed() }, widgets.NewParagraph(x.About, style.ColorMuted, style.SizeSmall))
		check.Set(slices.Contains(on, x.Scope))
		p.scopes, p.checks = append(p.scopes, x.Scope), append(p.checks, check)
		p.box.Add(check)
	}
	return p
}

// chosen returns the checked scopes, never nil.
func (p *permissions) chosen() []protocol.Scope {
	list := []protocol.Scope{}
	for i, c := range p.checks {
		if c.Box.Checked {
			list = append(list, p.scopes[i])
		}
	}
	return list
}

// machines lets the person choose all machines or some of them.
type machines struct {
	box    *fyne.Container
	ids    []protocol.NodeID
	some   *widgets.Select
	checks []*widgets.Check
}

// Texts of the choice between all machines and some.
const (
	allMachines  = "All machines"
	someMachines = "Only these machines"
)

// newMachines offers machines. some is whether only those in on are chosen at first, and not all.
// changed is called after each change by the person.
func newMachines(list []protocol.NodeInfo, some bool, on []protocol.NodeID, changed func()) *machines {
	m := &machines{}
	rows := widgets.Col(0)
	add := func(id protocol.NodeID, name string) {
		check := widgets.NewCheck(name, func(bool) { changed() })
		check.Set(slices.Contains(on, id))
		m.ids, m.checks = append(m.ids, id), append(m.checks, check)
		rows.Add(check)
	}
	for _, n := range list {
		add(n.ID, feed.NameOf(n))
	}
	for _, id := range on { // a machine that is gone stays chosen: no choice would mean all
		if !slices.Contains(m.ids, id) {
			add(id, string(id))
		}
	}
	m.some = widgets.NewSelect([]string{allMachines, someMachines}, nil)
	m.some.SetSelectedIndex(widgets.Choose(some, 1, 0))
	widgets.SetVisible(rows, some)
	m.some.OnChanged = func(text string) {
		widgets.SetVisible(rows, text == someMachines)
		changed()
	}
	m.box = widgets.Col(style.Gap, widgets.LimitWidth(260, true, m.some), rows)
	return m
}

// chosen returns the machines, empty for all. ok is false if the person must choose one first.
func (m *machines) chosen() (list []protocol.NodeID, ok bool) {
	if !m.isSome() {
		return []protocol.NodeID{}, true
	}
	list = m.checked()
	return list, len(list) > 0
}

// isSome reports whether only the checked machines are chosen.
func (m *machines) isSome() bool { return m.some.SelectedIndex() == 1 }

// checked returns the checked machines, also while all are chosen.
func (m *machines) checked() (list []protocol.NodeID) {
	for i, c := range m.checks {
		if c.Box.Checked {
			list = append(list, m.ids[i])
		}
	}
	return list
}
