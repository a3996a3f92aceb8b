package files

import (
	"context"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
)

// showConflict asks which of two versions to keep.
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
	e.seenChanges = e.page.app.Value.Get().FilesChanged
	e.viewer.stopWatching = cancel
	bind.Watch(ctx, e.page.app.Value, func(v state.View) {
		if v.FilesChanged == e.seenChanges {
			return
		}
		e.seenChanges = v.FilesChanged
		type now struct {
			text  string
			there bool
		}
		bind.Go(ctx, func(ctx context.Context) (now, error) {
			text, there, err := e.page.model.Text(ctx, e.path)
			return now{text, there}, err
		}, func(n now, err error) {
			if err == nil {
				e.fileChanged(n.text, n.there)
			}
		})
	})
}

// fileChanged handles a new version on the disk. Without unsaved changes the editor shows it at
// once.
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
