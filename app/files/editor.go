package files

import (
	"context"
	"errors"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// editor edits a text file. Unsaved changes survive leaving the page, and changes that
// somebody else made meanwhile are never overwritten without a question.
type editor struct {
	page      *Page
	viewer    *viewer
	files     state.TextFiles
	isAgent   bool // one of the agent's own files
	path      string
	draftKey  string
	isNew     bool   // a new file without a name
	savedName string // name under which a new file was saved
	box       fyne.CanvasObject

	base          string // the last known version on the disk
	exists        bool   // the file exists on the disk
	text          *textArea
	name          *widgets.Entry
	status        *widgets.Paragraph
	lengthNote    *widgets.Paragraph
	conflictBox   *fyne.Container // the question after conflicting changes
	conflictText  *widgets.Paragraph
	diskVersion   state.Conflict
	discardButton *widgets.Button
}

func newEditor(p *Page, v *viewer, f state.OpenFile, back *widgets.Button) *editor {
	e := &editor{
		page: p, viewer: v, files: p.model.TextFiles(), isAgent: p.view.Place == "", path: f.Path, draftKey: draftKey(p.view.Place, f.Path), isNew: f.Path == "" || strings.HasSuffix(f.Path, "/"), base: f.Text, exists: !f.Missing,
		text: newTextArea(), name: widgets.NewEntry(), status: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall),
		lengthNote: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall), conflictText: widgets.NewParagraph("", style.ColorText, "text"),
	}
	e.exists = e.exists && !e.isNew
	e.text.onSave = e.save
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
	if e.exists && e.isAgent {
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
	about := ""
	if e.isAgent {
		_, about, _ = state.AboutFile(f.Path)
	}
	if f.Missing {
		about += " The file does not exist. This is the default text."
	}
	if about != "" {
		top = append(top, widgets.NewParagraph(about, style.ColorMuted, "text"))
	}
	top = append(top, e.conflictBox)
	foot := widgets.Inset(style.Gap, 0, style.Inside, 0, widgets.Col(0, e.lengthNote, e.status))
	e.box = widgets.NewPage(title, widgets.Border(widgets.Inset(0, 0, style.Inside, 0, widgets.Col(style.Inside, top...)), foot, nil, nil, e.text), append(actions, back)...)
	if draft, ok := p.app.Drafts.Get(e.draftKey); ok && !e.isNew && draft != f.Text {
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
		e.page.app.Drafts.Save(e.draftKey, draft)
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
	if !e.isAgent {
		return
	}
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
	e.page.app.Drafts.Save(e.draftKey, "")
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
		return e.files.SaveOver(ctx, at, now, base, there)
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
	e.page.app.Drafts.Save(draftKey(e.page.view.Place, at), "")
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
		p.app.Drafts.Save(e.draftKey, "")
		p.close()
		p.h.Undo("File deleted.", undo, time.Now().Add(state.UndoTime))
	})
}
