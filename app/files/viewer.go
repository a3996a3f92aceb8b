package files

import (
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/code"
	"fairlead/app/host"
	"fairlead/app/markdown"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// viewer shows one file; the agent's files can be edited.
type viewer struct {
	page         *Page
	path         string
	file         *File             // nil for an editor and for changes
	info         protocol.FileInfo // what the list reported about the file
	box          fyne.CanvasObject
	edit         *editor            // nil if read-only
	stopWatching context.CancelFunc // stops following the file; nil if nothing does
}

func (v *viewer) close() {
	if v != nil && v.stopWatching != nil {
		v.stopWatching()
	}
}

// showFile shows a file, and reads it again when the list reports that it changed. An editor does
// that by itself.
func (p *Page) showFile(f *File) {
	info := p.view.InfoOf(f.Path)
	switch w := p.viewer; {
	case w != nil && w.path == f.Path && w.edit != nil:
	case w == nil || w.file != f:
		w.close()
		p.viewer = newViewer(p, *f)
		p.viewer.file, p.viewer.info = f, info
		p.replaceList("file", p.viewer.box)
	case w.info != info:
		w.info = info
		p.model.Look(f.Path)
	}
}

func newViewer(p *Page, f File) *viewer {
	v := &viewer{page: p, path: f.Path}
	back := widgets.NewQuietButton("All files", "back", p.close)
	var body fyne.CanvasObject
	actions := []fyne.CanvasObject{}
	switch {
	case f.Problem != "":
		body = widgets.NewLoadError("Could not show this file.", f.Problem, func() { p.model.Look(f.Path) })
	case f.Editable:
		v.edit = newEditor(p, v, f, back)
		v.box = v.edit.box
		return v
	case f.Binary:
		text := "Only text and pictures can be shown here."
		if size := p.view.InfoOf(f.Path).Size; size > 0 {
			text += " The file has " + format.Size(size) + "."
		}
		body = widgets.NewEmptyPage("file", "No preview", text)
	case f.Image != nil:
		img := canvas.NewImageFromImage(f.Image)
		img.FillMode = canvas.ImageFillContain
		body = img
	case f.Text == "":
		body = widgets.NewEmptyPage("file", "This file is empty", "")
		actions = v.editAction(f)
	default:
		body, actions = v.text(f)
	}
	if c, ok := p.view.ChangeOf(p.view.AbsolutePath(p.e.Feed.Machines.Get(), f.Path)); ok && p.view.Place != "" {
		actions = append(actions, widgets.NewQuietButton("Changed by the agent", "edit", func() { p.changes.open(c) }))
	}
	if words, icon, open := p.openOutside(f.Path); open != nil {
		actions = append(actions, widgets.NewButton(words, icon, open))
	}
	title, folder := titleOf(f.Path)
	v.box = widgets.NewPage(title, widgets.Inset(0, 0, style.Group, 0, widgets.Border(folder, nil, nil, nil, body)), append(actions, back)...)
	return v
}

// titleOf returns the title of the page of a file, its name, and a line with its folder; nil for none.
func titleOf(file string) (title string, folder fyne.CanvasObject) {
	dir, name := path.Split(file)
	if dir != "" {
		line := widgets.NewText(wording.VisibleName(strings.TrimSuffix(dir, "/")), style.ColorMuted, style.SizeSmall)
		line.Ellipsis, line.IsPath = true, true
		folder = widgets.Inset(0, 0, style.Inside, 0, line)
	}
	return wording.VisibleName(name), folder
}

// text shows the text of a file: Markdown rendered, with a button for its source.
func (v *viewer) text(f File) (body fyne.CanvasObject, actions []fyne.CanvasObject) {
	p := v.page
	panel := v.source(f)
	body = panel
	if isMarkdown(f.Path) {
		text := markdown.NewView()
		text.OnLink, text.OnCopy = p.openLink, p.e.Copy
		text.SetText(f.Text)
		form := widgets.NewForm(widgets.LimitLineLength(text))
		text.Forward = form.Scrolled
		panel.Hide()
		body = container.NewStack(form, panel)
		toggle := widgets.NewQuietButton("Source", "terminal", nil)
		toggle.OnTap = func() {
			widgets.SetVisible(panel, form.Visible())
			widgets.SetVisible(form, !form.Visible())
			toggle.SetText(widgets.Choose(form.Visible(), "Source", "Rendered"))
			v.box.Refresh()
		}
		actions = append(actions, toggle)
	}
	if f.Truncated {
		body = widgets.Border(nil, widgets.NewText("Only the beginning is shown.", style.ColorMuted, style.SizeSmall), nil, nil, body)
	}
	actions = append(actions, v.editAction(f)...)
	return body, append(actions, widgets.NewQuietButton("Copy", "copy", func() { p.e.Copy(f.Text) }))
}

func (p *Page) openLink(u *url.URL) {
	if u != nil {
		p.e.Open(host.URL(u.String()))
	}
}

// editAction returns the button that edits a file, if it can be edited.
func (v *viewer) editAction(f File) []fyne.CanvasObject {
	if f.Truncated || !v.page.view.CanChange() {
		return nil
	}
	return []fyne.CanvasObject{widgets.NewQuietButton("Edit", "edit", func() { v.startEdit() })}
}

func isMarkdown(name string) bool {
	return slices.Contains([]string{".md", ".markdown"}, strings.ToLower(path.Ext(name)))
}

// source shows the text of a file as it is stored, with coloured syntax.
func (v *viewer) source(f File) *code.Panel {
	p := v.page
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
	return panel
}

// startEdit replaces the view of a machine's file by an editor.
func (v *viewer) startEdit() {
	p, file, files := v.page, v.path, v.page.model.TextFiles()
	bind.Go(p.ctx, func(ctx context.Context) (string, error) {
		text, exists, err := files.Text(ctx, file)
		if err == nil && !exists {
			err = errors.New("it no longer exists")
		}
		return text, err
	}, func(text string, err error) {
		if p.viewer != v {
			return
		}
		if err != nil {
			p.e.Say("Could not edit the file: " + err.Error())
			return
		}
		p.viewer = newViewer(p, File{Path: file, Text: text, Editable: true})
		p.replaceList("file", p.viewer.box)
		widgets.FocusIn(p.Box, p.viewer.edit.text)
	})
}

// close closes the viewed file, and gives the list the keyboard.
func (p *Page) close() {
	p.viewer.close()
	p.viewer, p.drawnKey = nil, ""
	if p.view.File != nil {
		p.model.Up()
	} else {
		p.draw()
	}
	p.focus()
}

// Back closes the viewed file, and reports whether there was one. In the editor, it asks about
// unsaved changes.
func (p *Page) Back() bool {
	if p.viewer == nil {
		return false
	}
	if e := p.viewer.edit; e == nil || e.askToLeave() {
		p.close()
	}
	return true
}
