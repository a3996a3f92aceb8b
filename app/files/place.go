package files

import (
	"path"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// back reloads the folder when its machine reconnects.
func (p *Page) back(v state.View) {
	n, known := v.Node(p.view.Place)
	online := known && n.Online
	if p.away && online {
		p.m.Reload()
	}
	was := p.away
	if p.away = p.view.Place != "" && !online; p.away != was {
		p.picked()
	}
}

// Open shows the files of a machine; empty shows the agent's own.
func (p *Page) Open(id protocol.NodeID) {
	p.filter.SetText("")
	p.m.Open(id)
	if p.h.Place != nil {
		p.h.Place(id)
	}
}

// OpenAt shows one of the agent's own files, or a folder if the path ends with a slash.
func (p *Page) OpenAt(file string) {
	p.Open("")
	dir, name := path.Split(file)
	p.m.Enter(dir)
	if name != "" {
		p.m.Look(file)
	}
}

func (p *Page) places() []*fyne.MenuItem {
	items := []*fyne.MenuItem{fyne.NewMenuItem("Agent's files", func() { p.Open("") })}
	for _, n := range p.nodes {
		item := fyne.NewMenuItem(state.NameOf(n), func() { p.Open(n.ID); p.focus() })
		item.Disabled = !n.Online
		items = append(items, item)
		for _, g := range state.Folders(n) {
			if n.Online && n.Files {
				items = append(items, fyne.NewMenuItem("      "+g.Name, func() { p.Open(n.ID); p.enter(g.Dir) }))
			}
		}
	}
	return items
}

// names shows the current machine and path.
func (p *Page) names() {
	name := "Agent's files"
	if p.view.Place != "" {
		name = string(p.view.Place)
		for _, n := range p.nodes {
			if n.ID == p.view.Place {
				name = state.NameOf(n)
			}
		}
	}
	p.place.SetText(name)
}
