package sidebar

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/machine"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// machineRows are the rows of machines. They are reused, because they are drawn often.
type machineRows struct {
	box      *fyne.Container // of the heading and the rows in use
	scroller fyne.CanvasObject
	pool     []*widgets.SidebarRow
	shown    []protocol.NodeID
}

func newMachineRows() *machineRows {
	m := &machineRows{box: container.NewVBox()}
	m.scroller = widgets.NewVScroll(widgets.Inset(0, style.Inside, 0, style.Inside, m.box))
	return m
}

// clear begins a drawing.
func (m *machineRows) clear() { m.box.Objects, m.shown = nil, m.shown[:0] }

func (m *machineRows) add(id protocol.NodeID, item widgets.SidebarItem, open func()) {
	n := len(m.shown)
	if n == len(m.pool) {
		m.pool = append(m.pool, widgets.NewSidebarRow(widgets.SidebarItem{}, nil))
	}
	r := m.pool[n]
	if r.Item() != item {
		r.Set(item)
	}
	r.OnTap = open
	m.shown, m.box.Objects = append(m.shown, id), append(m.box.Objects, r)
}

// at returns the machine whose row is at a position of the canvas, and the row.
func (m *machineRows) at(at fyne.Position) (protocol.NodeID, fyne.CanvasObject, bool) {
	driver := fyne.CurrentApp().Driver()
	if from := driver.AbsolutePositionForObject(m.scroller).Y; at.Y < from || at.Y >= from+m.scroller.Size().Height {
		return "", nil, false // rows that are scrolled out of view may overlap other content
	}
	for i, id := range m.shown {
		from, size := driver.AbsolutePositionForObject(m.pool[i]), m.pool[i].Size()
		if at.X >= from.X && at.X < from.X+size.Width && at.Y >= from.Y && at.Y < from.Y+size.Height {
			return id, m.pool[i], true
		}
	}
	return "", nil, false
}

// drawMachines shows the machines.
func (b *Sidebar) drawMachines(v feed.View) {
	b.machines.clear()
	if v.Status.Loaded {
		b.machines.box.Objects = append(b.machines.box.Objects, b.heading(machinesHead, 0))
	}
	for _, n := range v.Machines {
		item := widgets.SidebarItem{Icon: "online", Color: b.e.Machines.Color(string(n.ID)), Title: n.DisplayName(), Selected: b.place.Machine == n.ID}
		if n.Local && !v.Status.Remote {
			item.Title += " (this)"
		} else if n.PingMs > 0 && !n.Local {
			item.Detail = machine.Presence(v, n, b.now())
		}
		if !n.Online {
			item.Icon, item.Color, item.Muted, item.Detail = "offline", style.ColorMuted, true, machine.Offline(n, b.now())
		}
		b.machines.add(n.ID, item, func() { b.e.Open(host.Machine(n.ID)) })
	}
	b.machines.box.Refresh()
}

// MachineAt returns the machine whose row is at a position of the canvas, and the row.
func (b *Sidebar) MachineAt(at fyne.Position) (protocol.NodeID, fyne.CanvasObject, bool) {
	return b.machines.at(at)
}
