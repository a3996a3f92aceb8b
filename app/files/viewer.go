package files

import (
	"context"
	"path"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/code"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// viewer shows one file; the agent's files can be edited.
type viewer struct {
	page         *Page
	path         string
	box          fyne.CanvasObject
	edit         *editor            // nil if read-only
	stopWatching context.CancelFunc // stops following the file; nil if nothing does
}

// close stops following the file.
func (v *viewer) close() {
	if v != nil && v.stopWatching != nil {
		v.stopWatching()
	}
}

func newViewer(p *Page, f state.OpenFile) *viewer {
	v := &viewer{page: p, path: f.Path}
	back := widgets.NewQuietButton("All files", "back", func() { p.close(); p.focus() })
	var body fyne.CanvasObject
	actions := []fyne.CanvasObject{}
	switch {
	case f.Problem != "":
		body = container.NewVBox(widgets.NewErrorBox(widgets.Problem{Title: "Could not show this file.", Advice: f.Problem}, nil))
	case f.Editable:
		v.edit = newEditor(p, v, f, back)
		v.box = v.edit.box
		return v
	case f.Image != nil:
		img := canvas.NewImageFromImage(f.Image)
		img.FillMode = canvas.ImageFillContain
		body = img
	case f.Text == "":
		body = widgets.NewEmptyPage("file", "This file is empty", "")
	default:
		panel := code.NewPanel(100_000)
		panel.SetLines(code.Highlight(f.Text, path.Base(f.Path)))
		if code.IsLong(f.Text) {
			bind.Go(p.ctx, func(context.Context) ([]code.Line, error) {
				return p.highlight(f.Text, path.Base(f.Path)), nil
			}, func(lines []code.Line, _ error) {
				panel.SetLines(lines)
				panel.Refresh()
			})
		}
		body = panel
		if f.Truncated {
			body = widgets.Border(nil, widgets.NewText("Only the beginning is shown.", style.ColorMuted, style.SizeSmall), nil, nil, panel)
		}
		actions = append(actions, widgets.NewQuietButton("Copy", "copy", func() { p.h.Copy(f.Text) }))
	}
	if c, ok := p.view.ChangeOf(p.absolutePath(f.Path)); ok && p.view.Place != "" {
		actions = append(actions, widgets.NewQuietButton("Changed by the agent", "edit", func() { p.showChange(c) }))
	}
	if p.isThisComputer() {
		actions = append(actions, widgets.NewButton("Open with default app", "external", func() { p.h.Open(p.absolutePath(f.Path)) }))
	} else if p.h.Fetch != nil && p.view.Place != "" {
		place := p.view.Place
		actions = append(actions, widgets.NewButton("Copy to this computer…", "import", func() { p.h.Fetch(place, f.Path) }))
	}
	v.box = widgets.NewPage(state.VisibleName(f.Path), widgets.Inset(0, 0, style.Group, 0, body), append(actions, back)...)
	return v
}

// newFile starts a new agent file.
func (p *Page) newFile() {
	dir := p.view.Dir
	if dir != "" {
		dir += "/"
	}
	p.viewer = newViewer(p, state.OpenFile{Path: dir, Editable: true})
	p.replaceList("file", p.viewer.box)
}

// close closes the file.
func (p *Page) close() {
	p.viewer.close()
	p.viewer, p.drawnKey = nil, ""
	if p.view.File != nil {
		p.model.Up()
		return
	}
	p.drawnKey = ""
	p.draw()
}

// Back closes the viewed file and returns to its folder, and reports whether there was one. A file
// in the editor stays open.
func (p *Page) Back() bool {
	if p.viewer == nil || p.viewer.edit != nil {
		return false
	}
	p.close()
	p.focus()
	return true
}
