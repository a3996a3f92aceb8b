package files

import (
	"context"
	"errors"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
)

// editor edits a text file. Unsaved changes survive leaving the page, and changes that
// somebody else made meanwhile are never overwritten without a question.
type editor struct {
	page      *Page
	viewer    *viewer
	files     textFiles
	isAgent   bool // one of the agent's own files
	path      string
	draftKey  string
	draft     unsaved.Draft[newFile] // of a new file, until it is saved
	isNew     bool                   // a new file without a name
	savedName string                 // name under which a new file was saved
	box       fyne.CanvasObject

	base          string // the last known version on the disk
	exists        bool   // the file exists on the disk
	text          *textArea
	name          *widgets.Entry
	status        *widgets.Paragraph
	lengthNote    *widgets.Paragraph
	conflictBox   *fyne.Container // the question after conflicting changes
	conflictText  *widgets.Paragraph
	diskVersion   feed.Conflict
	discardButton *widgets.Button
	leaveBox      *fyne.Container // the question whether to leave unsaved changes
	isLeaving     bool            // the file closes when it is saved
}

// newFile is the unsaved content of a file without a name.
type newFile struct{ name, text string }

func newEditor(p *Page, v *viewer, f File, back fyne.CanvasObject) *editor {
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
	e.name.OnChanged = func(string) { e.saveDraft() }
	e.lengthNote.Hide()

	mine, take := widgets.NewButton("Keep my version", "check", e.keepMine), widgets.NewButton("Use the one on disk", "import", e.useDiskVersion)
	e.conflictBox = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
		widgets.Inset(style.Inside, 12, style.Inside, 12, widgets.Col(style.Inside, e.conflictText, widgets.Flow(style.Inside, mine, take))))
	e.conflictBox.Hide()

	e.leaveBox = e.newLeaveBox()
	save := widgets.NewButton("Save", "check", e.save)
	save.Primary = true
	e.discardButton = widgets.NewQuietButton("Discard", "undo", e.discard)
	e.discardButton.Hide()
	actions := []fyne.CanvasObject{save, e.discardButton}
	if e.exists && e.isAgent {
		actions = append(actions, widgets.NewQuietButton("Delete", "trash", e.delete))
	}

	title, folder := titleOf(f.Path)
	top := []fyne.CanvasObject{}
	switch {
	case e.isNew:
		title = "New file"
		top = append(top, widgets.NewField("Name", e.name))
	case folder != nil:
		top = append(top, folder)
	}
	about := ""
	if e.isAgent {
		_, about, _ = aboutFile(f.Path)
	}
	if f.Missing {
		about += " The file does not exist. This is the default text."
	}
	if about != "" {
		top = append(top, widgets.NewParagraph(about, style.ColorMuted, "text"))
	}
	top = append(top, e.conflictBox, e.leaveBox)
	foot := widgets.Inset(style.Gap, 0, style.Inside, 0, widgets.Col(0, e.lengthNote, e.status))
	e.box = widgets.NewPage(title, widgets.Border(widgets.Inset(0, 0, style.Inside, 0, widgets.Col(style.Inside, top...)), foot, nil, nil, e.text), append(actions, back)...)
	e.restoreDraft(f)
	e.showLength()
	e.watchFile()
	return e
}

// restoreDraft shows what the person left without saving.
func (e *editor) restoreDraft(f File) {
	draft, ok := e.page.e.Drafts.File(e.draftKey)
	if e.isNew {
		var left newFile
		e.draft, left = unsaved.Open(e.page.e.Drafts, "new file "+e.draftKey, newFile{name: f.Path})
		e.name.SetText(left.name)
		draft, ok = left.text, e.draft.IsRestored
	}
	if ok && (draft != f.Text || e.isNew) {
		e.text.SetText(draft)
		e.setStatus(widgets.DraftRestored, style.ColorNeedsYou)
		e.discardButton.Show()
	}
}

// saveDraft retains what is not saved.
func (e *editor) saveDraft() {
	switch {
	case e.isNew && e.savedName == "":
		e.draft.Save(newFile{e.name.Text, e.text.Text})
	case e.hasChanges():
		e.page.e.Drafts.SaveFile(e.draftKey, e.text.Text)
	default:
		e.page.e.Drafts.SaveFile(e.draftKey, "")
	}
}

func (e *editor) hasChanges() bool { return e.text.Text != e.base }

func (e *editor) setStatus(text string, color fyne.ThemeColorName) {
	e.status.Set(text, color)
	e.box.Refresh()
}

func (e *editor) textChanged() {
	dirty := e.hasChanges()
	e.saveDraft()
	if dirty != e.discardButton.Visible() {
		widgets.SetVisible(e.discardButton, dirty)
		e.box.Refresh()
	}
	if dirty {
		e.status.Set("Unsaved. Fairlead keeps this draft while it runs.", style.ColorNeedsYou)
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
	words, over := lengthWarning(e.path, e.text.Text)
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
	e.text.SetText(e.base)
	if e.isNew && e.savedName == "" {
		e.name.SetText(e.path)
	}
	e.discardButton.Hide()
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
	e.leaveBox.Hide()
	e.setStatus("Saving…", style.ColorMuted)
	bind.Run(e.page.ctx, func(ctx context.Context) error {
		return e.files.SaveOver(ctx, at, now, base, there)
	}, func(err error) {
		e.afterSave(at, now, err)
	})
}

func (e *editor) afterSave(at, text string, err error) {
	if c, ok := errors.AsType[*feed.Conflict](err); ok {
		e.isLeaving = false
		if e.isNew {
			e.setStatus("A file with this name already exists. Choose another name, or open that file.", style.ColorBad)
			return
		}
		e.showConflict(*c)
		return
	}
	if err != nil {
		e.isLeaving = false
		e.setStatus("Not saved: "+err.Error(), style.ColorBad)
		return
	}
	e.base, e.exists, e.savedName = text, true, at
	if e.isNew {
		e.draft.Drop()
		e.draftKey = draftKey(e.page.view.Place, at)
	}
	e.page.e.Drafts.SaveFile(e.draftKey, "")
	e.conflictBox.Hide()
	e.textChanged()
	if e.isLeaving && e.page.viewer == e.viewer {
		e.page.close()
		return
	}
	if !e.hasChanges() { // no changes since
		e.setStatus("✓ Saved.", style.ColorGood)
	}
}

func (e *editor) delete() {
	p := e.page
	var undo func()
	p.e.Run(p.ctx, "Could not delete the file", func(ctx context.Context) (err error) {
		undo, err = p.model.Agent.Delete(ctx, e.path)
		return err
	}, func() {
		p.e.Drafts.SaveFile(e.draftKey, "")
		p.close()
		p.e.Undo("File deleted.", undo, time.Now().Add(feed.UndoTime))
	})
}
