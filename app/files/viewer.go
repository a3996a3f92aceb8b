package files

import (
	"bytes"
	"context"
	"path"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
)

// viewer shows one file; one of the agent can be edited.
type viewer struct {
	p    *Page
	path string
	box  fyne.CanvasObject
}

func newViewer(p *Page, f state.OpenFile) *viewer {
	v := &viewer{p: p, path: f.Path}
	back := widgets.NewQuiet("All files", "back", p.close)
	var body fyne.CanvasObject
	actions := []fyne.CanvasObject{}
	switch {
	case f.Problem != "":
		body = container.NewVBox(widgets.NewErrorBox(widgets.Problem{What: "This file cannot be shown.", Do: f.Problem}, nil))
	case f.Editable:
		v.box = v.editor(f, back)
		return v
	case f.Image != nil:
		img := canvas.NewImageFromReader(bytes.NewReader(f.Image), path.Base(f.Path))
		img.FillMode = canvas.ImageFillContain
		body = img
	default:
		panel := widgets.NewCodePanel(100_000)
		panel.SetLines(widgets.Highlight(f.Text, strings.TrimPrefix(path.Ext(f.Path), ".")))
		body = panel
		if f.Cut {
			body = container.NewBorder(nil, widgets.NewText("Only the beginning is shown.", look.ColorMuted, look.SizeSmall), nil, nil, panel)
		}
		actions = append(actions, widgets.NewQuiet("Copy", "copy", func() { p.h.Copy(f.Text) }))
	}
	if c, ok := p.view.ChangeOf(p.whole(f.Path)); ok && p.view.Place != "" {
		actions = append(actions, widgets.NewQuiet("Changed by the agent", "edit", func() { p.change(c) }))
	}
	if p.local() {
		actions = append(actions, widgets.NewButton("Open with its program", "external", func() { p.h.Open(p.whole(f.Path)) }))
	} else if p.h.Fetch != nil && p.view.Place != "" {
		place := p.view.Place
		actions = append(actions, widgets.NewButton("Copy to this computer…", "import", func() { p.h.Fetch(place, f.Path) }))
	}
	v.box = widgets.NewPage(f.Path, widgets.Inset(0, 0, look.Group, 0, body), append(actions, back)...)
	return v
}

// editor lets one of the agent's files be written.
func (v *viewer) editor(f state.OpenFile, back *widgets.Button) fyne.CanvasObject {
	p := v.p
	text := widget.NewMultiLineEntry()
	text.SetText(f.Text)
	text.Wrapping = fyne.TextWrapWord
	text.TextStyle = fyne.TextStyle{Monospace: true}
	said := widgets.NewText("", look.ColorMuted, look.SizeSmall)
	name := widget.NewEntry()
	name.SetText(f.Path)
	name.SetPlaceHolder("notes.md")
	fresh := f.Path == "" || strings.HasSuffix(f.Path, "/")
	saved := f.Text
	save := widgets.NewButton("Save", "check", nil)
	save.Primary = true
	save.OnTap = func() {
		at, now := strings.TrimSpace(name.Text), text.Text
		said.Set("Saving…", look.ColorMuted)
		bind.Go(p.ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.m.Save(ctx, at, now) }, func(_ struct{}, err error) {
			if err != nil {
				said.Set("Not saved: "+err.Error(), look.ColorBad)
				return
			}
			saved = now
			said.Set("✓ Saved.", look.ColorGood)
		})
	}
	text.OnChanged = func(now string) {
		if now == saved {
			said.Set("", look.ColorMuted)
		} else {
			said.Set("Not saved yet", look.ColorNeedsYou)
		}
	}
	sure := false
	back.OnTap = func() {
		if text.Text != saved && !sure {
			sure = true
			said.Set("Not saved yet. Leave once more to lose the change.", look.ColorNeedsYou)
			return
		}
		p.close()
	}
	actions := []fyne.CanvasObject{save}
	if !fresh {
		actions = append(actions, widgets.NewQuiet("Delete", "trash", func() {
			bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.m.Delete(ctx, f.Path) }, func(undo func(), err error) {
				if err != nil {
					p.fail("The file was not deleted", err)
					return
				}
				p.close()
				p.h.Undo("The file was deleted.", undo, time.Now().Add(state.UndoTime))
			})
		}))
	}
	title := f.Path
	var top fyne.CanvasObject
	if fresh {
		title, top = "New file", widgets.Inset(0, 0, look.Inside, 0, widgets.NewField("Name", name))
	}
	return widgets.NewPage(title, container.NewBorder(top, widgets.Inset(look.Gap, 0, look.Inside, 0, said), nil, nil, text), append(actions, back)...)
}
