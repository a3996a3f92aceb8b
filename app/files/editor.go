package files

import (
	"context"
	"errors"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// editor edits one of the agent's files. Unsaved changes survive leaving the page, and changes that
// somebody else made meanwhile are never overwritten without a question.
type editor struct {
	p     *Page
	v     *viewer
	path  string
	fresh bool   // a new file without a name
	kept  string // name under which a new file was saved
	box   fyne.CanvasObject

	base   string // the last known version on the disk
	there  bool   // the file exists on the disk
	text   *widget.Entry
	name   *widget.Entry
	said   *widgets.Paragraph
	length *widgets.Paragraph
	clash  *fyne.Container // the question after conflicting changes
	told   *widgets.Paragraph
	theirs state.Conflict
	drop   *widgets.Button
	seen   int // number of processed file changes
}

func newEditor(p *Page, v *viewer, f state.OpenFile, back *widgets.Button) *editor {
	e := &editor{
		p: p, v: v, path: f.Path, fresh: f.Path == "" || strings.HasSuffix(f.Path, "/"), base: f.Text, there: !f.Missing,
		text: widget.NewMultiLineEntry(), name: widget.NewEntry(), said: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall),
		length: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall), told: widgets.NewParagraph("", style.ColorText, "text"),
	}
	e.there = e.there && !e.fresh
	e.text.Wrapping = fyne.TextWrapWord
	e.text.TextStyle = fyne.TextStyle{Monospace: true}
	e.text.SetText(f.Text)
	e.text.OnChanged = func(string) { e.typed() }
	e.name.SetText(f.Path)
	e.name.SetPlaceHolder("notes.md")
	e.length.Hide()

	mine, take := widgets.NewButton("Keep my version", "check", e.keepMine), widgets.NewButton("Use the one on disk", "import", e.takeTheirs)
	e.clash = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
		widgets.Inset(style.Inside, 12, style.Inside, 12, widgets.Col(style.Inside, e.told, widgets.Flow(style.Inside, mine, take))))
	e.clash.Hide()

	save := widgets.NewButton("Save", "check", e.save)
	save.Primary = true
	e.drop = widgets.NewQuiet("Discard", "undo", e.discard)
	e.drop.Hide()
	actions := []fyne.CanvasObject{save, e.drop}
	if e.there {
		actions = append(actions, widgets.NewQuiet("Delete", "trash", e.delete))
	}
	if e.fresh {
		e.guard(back)
	}

	title, top := f.Path, []fyne.CanvasObject{}
	if e.fresh {
		title = "New file"
		top = append(top, widgets.NewField("Name", e.name))
	}
	_, about, _ := state.AboutFile(f.Path)
	if f.Missing {
		about += " The file does not exist. This is the default text."
	}
	if about != "" {
		top = append(top, widgets.NewParagraph(about, style.ColorMuted, "text"))
	}
	top = append(top, e.clash)
	foot := widgets.Inset(style.Gap, 0, style.Inside, 0, widgets.Col(0, e.length, e.said))
	e.box = widgets.NewPage(title, widgets.Border(widgets.Inset(0, 0, style.Inside, 0, widgets.Col(style.Inside, top...)), foot, nil, nil, e.text), append(actions, back)...)
	if draft, ok := p.app.Drafts.Get(f.Path); ok && !e.fresh && draft != f.Text {
		e.text.SetText(draft)
		e.say("Your unsaved changes were restored.", style.ColorNeedsYou)
	}
	e.measure()
	e.follow()
	return e
}

// guard asks before a new, unnamed file is closed: its text cannot be stored without a name.
func (e *editor) guard(back *widgets.Button) {
	sure := false
	back.OnTap = func() {
		if e.dirty() && !sure {
			sure = true
			e.say("Unsaved. Leave again to discard it.", style.ColorNeedsYou)
			return
		}
		e.p.close()
	}
}

func (e *editor) dirty() bool { return e.text.Text != e.base }

func (e *editor) say(text string, color fyne.ThemeColorName) {
	e.said.Set(text, color)
	e.box.Refresh()
}

// typed stores the draft and updates the notes about it.
func (e *editor) typed() {
	dirty := e.dirty()
	if !e.fresh {
		draft := ""
		if dirty {
			draft = e.text.Text
		}
		e.p.app.Drafts.Save(e.path, draft)
	}
	if dirty != e.drop.Visible() && !e.fresh {
		show(e.drop, dirty)
		e.box.Refresh()
	}
	if dirty {
		e.said.Set("Unsaved. Fairlead keeps this draft while it runs.", style.ColorNeedsYou)
		if e.fresh {
			e.said.Set("Unsaved", style.ColorNeedsYou)
		}
	} else {
		e.said.Set("", style.ColorMuted)
	}
	e.measure()
}

// measure warns about a file that exceeds what the agent reads of it.
func (e *editor) measure() {
	words, over := state.FileLength(e.path, e.text.Text)
	color := style.ColorMuted
	if over {
		color = style.ColorNeedsYou
	}
	e.length.Set(words, color)
	if (words != "") != e.length.Visible() {
		show(e.length, words != "")
		e.box.Refresh()
	}
}

func show(o fyne.CanvasObject, on bool) {
	if on {
		o.Show()
	} else {
		o.Hide()
	}
}

func (e *editor) discard() {
	e.p.app.Drafts.Save(e.path, "")
	e.text.SetText(e.base)
	e.clash.Hide()
	e.say("", style.ColorMuted)
}

// target returns the path to save to, and whether that file is known to exist: a new name means
// another file.
func (e *editor) target() (at string, there bool) {
	if !e.fresh {
		return e.path, e.there
	}
	at = strings.TrimSpace(e.name.Text)
	return at, e.there && at == e.kept
}

func (e *editor) save() {
	now, base := e.text.Text, e.base
	at, there := e.target()
	e.say("Saving…", style.ColorMuted)
	bind.Go(e.p.ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, e.p.m.SaveOver(ctx, at, now, base, there)
	}, func(_ struct{}, err error) {
		e.saved(at, now, err)
	})
}

// saved handles the result of saving.
func (e *editor) saved(at, text string, err error) {
	if c, ok := errors.AsType[*state.Conflict](err); ok {
		if e.fresh {
			e.say("A file with this name already exists. Choose another name, or open that file.", style.ColorBad)
			return
		}
		e.conflict(*c)
		return
	}
	if err != nil {
		e.say("Not saved: "+err.Error(), style.ColorBad)
		return
	}
	e.base, e.there, e.kept = text, true, at
	e.p.app.Drafts.Save(at, "")
	e.clash.Hide()
	e.typed()
	if !e.dirty() { // no changes since
		e.say("✓ Saved.", style.ColorGood)
	}
}

func (e *editor) delete() {
	p := e.p
	bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.m.Delete(ctx, e.path) }, func(undo func(), err error) {
		if err != nil {
			p.fail("Could not delete the file", err)
			return
		}
		p.app.Drafts.Save(e.path, "")
		p.close()
		p.h.Undo("File deleted.", undo, time.Now().Add(state.UndoTime))
	})
}
