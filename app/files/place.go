package files

import (
	"path"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// watchMachine reloads the folder when its machine reconnects.
func (p *Page) watchMachine(v state.View) {
	n, known := v.Node(p.view.Place)
	online := known && n.Online
	if p.offline && online {
		p.model.Reload()
	}
	was := p.offline
	if p.offline = p.view.Place != "" && !online; p.offline != was {
		p.showSelection()
	}
}

// Open shows the files of a machine; empty shows the agent's own.
func (p *Page) Open(id protocol.NodeID) {
	p.filter.SetText("")
	p.model.Open(id)
	if p.h.Place != nil {
		p.h.Place(id)
	}
}

// OpenAt shows one of the agent's own files, or a folder if the path ends with a slash.
func (p *Page) OpenAt(file string) {
	p.Open("")
	dir, name := path.Split(file)
	p.model.Enter(dir)
	if name != "" {
		p.model.Look(file)
	}
}

func (p *Page) placeMenu() []*fyne.MenuItem {
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

// showPlace shows the current machine and path.
func (p *Page) showPlace() {
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

// fileMarks adds to the list's marks the purpose of each agent file, and whether it is missing or
// unsaved.
func (p *Page) fileMarks(marks map[string]string) map[string]string {
	if p.view.Place != "" {
		return marks
	}
	if marks == nil {
		marks = map[string]string{}
	}
	for _, e := range p.view.Entries {
		_, draft := p.app.Drafts.Get(e.Path)
		short, _, _ := state.AboutFile(e.Path)
		switch {
		case e.Dir:
		case draft:
			marks[e.Path] = "unsaved"
		case marks[e.Path] != "" || short == "":
		case e.Missing:
			marks[e.Path] = short + notCreated
		default:
			marks[e.Path] = short
		}
	}
	return marks
}

const notCreated = " · not created yet"

// markColor returns a fainter colour for a purpose than for a state.
func markColor(e state.FileEntry, mark string) fyne.ThemeColorName {
	if short, _, _ := state.AboutFile(e.Path); short != "" && (mark == short || mark == short+notCreated) {
		return style.ColorMuted
	}
	return style.ColorAccent
}
