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
	page      *Page
	viewer    *viewer
	path      string
	isNew     bool   // a new file without a name
	savedName string // name under which a new file was saved
	box       fyne.CanvasObject

	base          string // the last known version on the disk
	exists        bool   // the file exists on the disk
	text          *widget.Entry
	name          *widget.Entry
	status        *widgets.Paragraph
	lengthNote    *widgets.Paragraph
	conflictBox   *fyne.Container // the question after conflicting changes
	conflictText  *widgets.Paragraph
	diskVersion   state.Conflict
	discardButton *widgets.Button
}

func newEditor(p *Page, v *viewer, f state.OpenFile, back *widgets.Button) *editor {
	e := &editor{
		page: p, viewer: v, path: f.Path, isNew: f.Path == "" || strings.HasSuffix(f.Path, "/"), base: f.Text, exists: !f.Missing,
		text: widget.NewMultiLineEntry(), name: widget.NewEntry(), status: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall),
		lengthNote: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall), conflictText: widgets.NewParagraph("", style.ColorText, "text"),
	}
	e.exists = e.exists && !e.isNew
	e.text.Wrapping = fyne.TextWrapWord
	e.text.TextStyle = fyne.TextStyle{Monospace: true}
	e.text.SetText(f.Text)
	e.text.OnChanged = func(string) { e.textChanged() }
	e.name.SetText(f.Path)
	e.name.SetPlaceHolder("notes.md")
	e.lengthNote.Hide()

	mine, take := widgets.NewButton("Keep my version", "check", e.keepMine), widgets.NewButton("Use the one on disk", "import", e.useDiskVersion)
	e.conflictBox = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
		widgets.Inset(style.Inside, 12, style.Inside, 12, widgets.Col(style.Inside, e.conflictText, widgets.Flow(style.Inside, mine, take))))
	e.conflictBox.Hide()

	save := widgets.NewButton("Save", "check", e.save)
	save.Primary = true
	e.discardButton = widgets.NewQuietButton("Discard", "undo", e.discard)
	e.discardButton.Hide()
	actions := []fyne.CanvasObject{save, e.discardButton}
	if e.exists {
		actions = append(actions, widgets.NewQuietButton("Delete", "trash", e.delete))
	}
	if e.isNew {
		e.confirmLeave(back)
	}

	title, top := f.Path, []fyne.CanvasObject{}
	if e.isNew {
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
	top = append(top, e.conflictBox)
	foot := widgets.Inset(style.Gap, 0, style.Inside, 0, widgets.Col(0, e.lengthNote, e.status))
	e.box = widgets.NewPage(title, widgets.Border(widgets.Inset(0, 0, style.Inside, 0, widgets.Col(style.Inside, top...)), foot, nil, nil, e.text), append(actions, back)...)
	if draft, ok := p.app.Drafts.Get(f.Path); ok && !e.isNew && draft != f.Text {
		e.text.SetText(draft)
		e.setStatus("Your unsaved changes were restored.", style.ColorNeedsYou)
	}
	e.showLength()
	e.watchFile()
	return e
}

// confirmLeave asks before a new, unnamed file is closed: its text cannot be stored without a name.
func (e *editor) confirmLeave(back *widgets.Button) {
	sure := false
	back.OnTap = func() {
		if e.hasChanges() && !sure {
			sure = true
			e.setStatus("Unsaved. Leave again to discard it.", style.ColorNeedsYou)
			return
		}
		e.page.close()
	}
}

func (e *editor) hasChanges() bool { return e.text.Text != e.base }

func (e *editor) setStatus(text string, color fyne.ThemeColorName) {
	e.status.Set(text, color)
	e.box.Refresh()
}

func (e *editor) textChanged() {
	dirty := e.hasChanges()
	if !e.isNew {
		draft := ""
		if dirty {
			draft = e.text.Text
		}
		e.page.app.Drafts.Save(e.path, draft)
	}
	if dirty != e.discardButton.Visible() && !e.isNew {
		widgets.SetVisible(e.discardButton, dirty)
		e.box.Refresh()
	}
	if dirty {
		e.status.Set("Unsaved. Fairlead keeps this draft while it runs.", style.ColorNeedsYou)
		if e.isNew {
			e.status.Set("Unsaved", style.ColorNeedsYou)
		}
	} else {
		e.status.Set("", style.ColorMuted)
	}
	e.showLength()
}

// showLength warns about a file that exceeds what the agent reads of it.
func (e *editor) showLength() {
	words, over := state.FileLength(e.path, e.text.Text)
	color := style.ColorMuted
	if over {
		color = style.ColorNeedsYou
	}
	e.lengthNote.Set(words, color)
	if (words != "") != e.lengthNote.Visible() {
		widgets.SetVisible(e.lengthNote, words != "")
		e.box.Refresh()
	}
}

func (e *editor) discard() {
	e.page.app.Drafts.Save(e.path, "")
	e.text.SetText(e.base)
	e.conflictBox.Hide()
	e.setStatus("", style.ColorMuted)
}

// target returns the path to save to, and whether that file is known to exist.
func (e *editor) target() (at string, there bool) {
	if !e.isNew {
		return e.path, e.exists
	}
	at = strings.TrimSpace(e.name.Text)
	return at, e.exists && at == e.savedName
}

func (e *editor) save() {
	now, base := e.text.Text, e.base
	at, there := e.target()
	e.setStatus("Saving…", style.ColorMuted)
	bind.Run(e.page.ctx, func(ctx context.Context) error {
		return e.page.model.SaveOver(ctx, at, now, base, there)
	}, func(err error) {
		e.afterSave(at, now, err)
	})
}

func (e *editor) afterSave(at, text string, err error) {
	if c, ok := errors.AsType[*state.Conflict](err); ok {
		if e.isNew {
			e.setStatus("A file with this name already exists. Choose another name, or open that file.", style.ColorBad)
			return
		}
		e.showConflict(*c)
		return
	}
	if err != nil {
		e.setStatus("Not saved: "+err.Error(), style.ColorBad)
		return
	}
	e.base, e.exists, e.savedName = text, true, at
	e.page.app.Drafts.Save(at, "")
	e.conflictBox.Hide()
	e.textChanged()
	if !e.hasChanges() { // no changes since
		e.setStatus("✓ Saved.", style.ColorGood)
	}
}

func (e *editor) delete() {
	p := e.page
	bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.model.Delete(ctx, e.path) }, func(undo func(), err error) {
		if p.h.Say.Failed("Could not delete the file", err) {
			return
		}
		p.app.Drafts.Save(e.path, "")
		p.close()
		p.h.Undo("File deleted.", undo, time.Now().Add(state.UndoTime))
	})
}

func (e *editor) showConflict(c state.Conflict) {
	e.diskVersion = c
	e.conflictText.Set("This file changed on disk while you were editing it. Keep your version or the one on disk?", style.ColorText)
	if c.Deleted {
		e.conflictText.Set("This file was deleted while you were editing it. Keep your version?", style.ColorText)
	}
	e.conflictBox.Show()
	e.setStatus("", style.ColorMuted)
}

func (e *editor) keepMine() {
	e.base, e.exists = e.diskVersion.Current, !e.diskVersion.Deleted
	e.conflictBox.Hide()
	e.save()
}

func (e *editor) useDiskVersion() {
	e.conflictBox.Hide()
	e.page.app.Drafts.Save(e.path, "")
	if e.diskVersion.Deleted {
		e.page.close()
		return
	}
	e.base, e.exists = e.diskVersion.Current, true
	e.text.SetText(e.base)
	e.setStatus("", style.ColorMuted)
}

// watchFile reads the file again whenever files on the disk changed, while this editor is open.
func (e *editor) watchFile() {
	if e.isNew {
		return
	}
	ctx, cancel := context.WithCancel(e.page.ctx)
	seen := e.page.app.Value.Get().FilesChanged
	e.viewer.stopWatching = cancel
	bind.Watch(ctx, e.page.app.Value, func(v state.View) {
		if v.FilesChanged == seen {
			return
		}
		seen = v.FilesChanged
		text, exists := "", false
		bind.Run(ctx, func(ctx context.Context) (err error) {
			text, exists, err = e.page.model.Text(ctx, e.path)
			return err
		}, func(err error) {
			if err == nil {
				e.fileChanged(text, exists)
			}
		})
	})
}

// fileChanged handles a new version on the disk; without unsaved changes the editor shows it.
func (e *editor) fileChanged(text string, there bool) {
	switch {
	case there == e.exists && (text == e.base || !there):
	case there && text == e.text.Text: // the editor itself saved this version
		e.base, e.exists = text, true
		e.textChanged()
	case !e.hasChanges() && there:
		e.base, e.exists = text, true
		e.text.SetText(text)
		e.setStatus("The file changed on disk. This is the current version.", style.ColorMuted)
	default:
		e.showConflict(state.Conflict{Current: text, Deleted: !there})
	}
}
