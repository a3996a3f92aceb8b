package files

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// draw rebuilds the page only when its structure changes: a field keeps the focus and its text.
func (p *Page) draw() {
	v := p.view
	if p.drawnKey == "cover" {
		return // it is closed by its own button
	}
	if f := v.File; f != nil {
		if p.viewer == nil || p.viewer.path != f.Path {
			p.viewer.close()
			p.viewer = newViewer(p, *f)
			p.replaceList("file", p.viewer.box)
		}
		return
	}
	p.viewer.close()
	p.viewer = nil
	now := fmt.Sprint("list ", v.Loading, v.Problem, len(v.Entries) == 0, v.Filter != "", p.frameKey())
	if now == p.drawnKey {
		return
	}
	framed := strings.HasPrefix(p.drawnKey, "list") && strings.HasSuffix(p.drawnKey, p.frameKey())
	p.drawnKey = now
	var o fyne.CanvasObject = widgets.Border(p.columnHeads.box, nil, nil, nil, p.list)
	switch {
	case v.Problem != "":
		o = widgets.NewLoadError("Could not list the files.", v.Problem, p.model.Reload)
	case v.Loading:
		o = widgets.NewLoading()
	case len(v.Entries) == 0 && v.Filter != "":
		o = container.NewVBox(widgets.NewText("Nothing found", style.ColorMuted, "text"))
	case len(v.Entries) == 0:
		o = widgets.NewEmptyPage("folder", "This folder is empty", "")
	}
	p.dropHighlight.Hide()
	widgets.SetContent(p.body, o, p.dropHighlight)
	if framed {
		return // the frame with its fields stays
	}
	up := widgets.NewQuietButton("", "up", p.model.Up)
	if v.Dir == "" {
		up.Hide()
	}
	row := []fyne.CanvasObject{up, p.pathBar.box}
	if v.CanBrowse && !v.ReadOnly {
		for _, b := range p.selectionButtons {
			row = append(row, b)
		}
		name := "New folder"
		if p.isBeside {
			name = ""
		}
		row = append(row, widgets.NewButton(name, "plus", p.actions.newFolder))
	}
	top := widgets.Col(style.Inside, p.filter, widgets.Row(style.Inside, 1, row...))
	widgets.SetContent(p.Box, p.withHead(widgets.Border(widgets.Inset(0, 0, style.Inside, 0, top), widgets.Inset(style.Gap, 0, style.Inside, 0, p.note), nil, nil, p.body)))
	if p.focusPending {
		p.focus()
	}
}

// replaceList replaces the list, which loses the focus: keys must not act on hidden content.
func (p *Page) replaceList(drawn string, o fyne.CanvasObject) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(p.Box); c != nil {
		c.Unfocus()
	}
	p.drawnKey = drawn
	widgets.SetContent(p.Box, o)
}

// frameKey names the set of parts around the list.
func (p *Page) frameKey() string {
	v := p.view
	return fmt.Sprint(v.Place == "", v.Dir == "", v.CanBrowse, v.ReadOnly, len(v.Changed) > 0, p.isBeside, p.pair.hasRoom())
}

// withHead adds the controls above a list; beside another list they have icons only.
func (p *Page) withHead(body fyne.CanvasObject) fyne.CanvasObject {
	words := func(text string) string {
		if p.isBeside || style.Size("text") > 18 { // with large text the header would need two lines
			return ""
		}
		return text
	}
	actions := []fyne.CanvasObject{widgets.NewQuietButton("", "reset", p.model.Reload)}
	if !p.isBeside {
		actions = append(actions, p.place)
	}
	switch {
	case p.view.Place == "":
		actions = append(actions, widgets.NewButton(words("New file"), "plus", func() {
			f := state.OpenFile{Editable: true}
			if p.view.Dir != "" {
				f.Path = p.view.Dir + "/"
			}
			p.viewer = newViewer(p, f)
			p.replaceList("file", p.viewer.box)
		}))
	case p.view.CanBrowse && len(p.view.Changed) > 0:
		actions = append(actions, widgets.NewQuietButton(words("Changes"), "edit", func() { p.changes.list("") }))
	}
	switch {
	case p.isBeside && p.pair.right == p:
		actions = append(actions, widgets.NewQuietButton("", "cross", p.pair.Toggle))
	case p.pair.hasRoom():
		actions = append(actions, widgets.NewQuietButton("", "columns", p.pair.Toggle))
	}
	if !p.isBeside {
		return widgets.NewPage("Files", body, actions...)
	}
	row := widgets.Row(style.Gap, 1, append([]fyne.CanvasObject{p.place, container.NewStack()}, actions...)...)
	return widgets.Inset(style.Group, style.Group, 0, style.Group, widgets.Border(widgets.Inset(0, 0, style.Inside, 0, row), nil, nil, nil, body))
}
