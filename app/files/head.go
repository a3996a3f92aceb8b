package files

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// head is the line of controls above a list.
type head struct{ page *Page }

// wrap adds the controls above a list; beside another list they have icons only.
func (h head) wrap(body fyne.CanvasObject) fyne.CanvasObject {
	p := h.page
	action := func(text, icon string, do func()) *widgets.Button {
		b := widgets.NewIconButton(icon, text, do)
		if !p.isBeside && style.Size("text") <= 18 { // with large text the header would need two lines
			b.SetText(text)
		}
		return b
	}
	actions := []fyne.CanvasObject{widgets.NewIconButton("reset", "Reload", p.model.Reload)}
	if !p.isBeside {
		actions = append(actions, p.place)
	}
	switch {
	case p.view.Place == "":
		create := action("New file", "plus", func() {
			f := File{Editable: true}
			if p.view.Dir != "" {
				f.Path = p.view.Dir + "/"
			}
			p.viewer = newViewer(p, f)
			p.replaceList("file", p.viewer.box)
		})
		create.Quiet = false
		actions = append(actions, create)
	case p.view.CanBrowse && len(p.view.Changed) > 0:
		actions = append(actions, action("Changes", "edit", func() { p.changes.list("") }))
	}
	var more *widgets.Button
	more = widgets.NewIconButton("more", "More actions", func() { widgets.ShowMenu(more, h.moreMenu()) })
	actions = append(actions, more)
	switch {
	case p.isBeside && p.pair.right == p:
		actions = append(actions, widgets.NewIconButton("cross", "Close the second folder", p.pair.Toggle))
	case p.pair.hasRoom():
		actions = append(actions, widgets.NewIconButton("columns", "Open a second folder", p.pair.Toggle))
	}
	if !p.isBeside {
		return widgets.NewPage("Files", body, actions...)
	}
	row := widgets.Row(style.Gap, 1, append([]fyne.CanvasObject{p.place, container.NewStack()}, actions...)...)
	return widgets.Inset(style.Group, style.Group, 0, style.Group, widgets.Border(widgets.Inset(0, 0, style.Inside, 0, row), nil, nil, nil, body))
}

func (h head) placeMenu() []*fyne.MenuItem {
	p := h.page
	v := p.e.Feed.View()
	var items []*fyne.MenuItem
	for _, n := range v.Machines {
		item := fyne.NewMenuItem(v.PlaceName(n.ID), func() { p.Open(n.ID); p.focus() })
		item.Disabled = !n.Online
		items = append(items, item)
		for _, g := range grantedFolders(n) {
			if n.Online && n.Files {
				items = append(items, fyne.NewMenuItem("      "+g.Name, func() { p.Open(n.ID); p.enter(g.Dir) }))
			}
		}
	}
	if len(items) > 0 {
		items = append(items, fyne.NewMenuItemSeparator())
	}
	return append(items, fyne.NewMenuItem(v.PlaceName(""), func() { p.Open("") }))
}

func (h head) moreMenu() []*fyne.MenuItem {
	p := h.page
	item := func(words, key string, do func()) *fyne.MenuItem { return fyne.NewMenuItem(words+"   "+key, do) }
	hidden := item("Show hidden files", widgets.ShortcutName("H", false), p.ToggleHidden)
	hidden.Checked = p.view.ShowHidden
	items := []*fyne.MenuItem{hidden, item("Go to folder", widgets.ShortcutName("L", false), p.EditPath)}
	if p.pair.hasRoom() {
		two := item("Two panes", "F3", p.pair.Toggle)
		two.Checked = p.isBeside
		items = append(items, two)
	}
	return items
}
