package files

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func (e *editor) showConflict(c feed.Conflict) {
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
	e.page.e.Drafts.SaveFile(e.draftKey, "")
	if e.diskVersion.Deleted {
		e.page.close()
		return
	}
	e.base, e.exists = e.diskVersion.Current, true
	e.text.SetText(e.base)
	e.setStatus("", style.ColorMuted)
}

// newLeaveBox creates the question whether to leave the file with unsaved changes.
func (e *editor) newLeaveBox() *fyne.Container {
	save := widgets.NewButton("Save and close", "check", func() {
		e.isLeaving = true
		e.save()
	})
	stay := widgets.NewQuietButton("Keep editing", "", func() {
		e.leaveBox.Hide()
		e.box.Refresh()
		widgets.FocusIn(e.box, e.text)
	})
	leave := widgets.NewButton("Close without saving", "", e.page.close)
	text := widgets.NewParagraph("Save your changes before you close this file? Unsaved changes stay here as a draft while Fairlead runs.", style.ColorText, "text")
	box := container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
		widgets.Inset(style.Inside, 12, style.Inside, 12, widgets.Col(style.Inside, text, widgets.Flow(style.Inside, save, leave, stay))))
	box.Hide()
	return box
}

// askToLeave shows the question, and reports false, if the file has unsaved changes. Asked again, it
// hides the question: the person goes on.
func (e *editor) askToLeave() bool {
	isUnsaved := e.hasChanges() || e.isNew && e.savedName == "" && strings.TrimSpace(e.name.Text) != strings.TrimSpace(e.path)
	if !isUnsaved {
		return true
	}
	widgets.SetVisible(e.leaveBox, !e.leaveBox.Visible())
	e.box.Refresh()
	if e.leaveBox.Visible() {
		return false
	}
	widgets.FocusIn(e.box, e.text)
	return false
}

// watchFile reads the file again whenever files on the disk changed, while this editor is open.
func (e *editor) watchFile() {
	if e.isNew {
		return
	}
	ctx, cancel := context.WithCancel(e.page.ctx)
	e.viewer.stopWatching = cancel
	if !e.isAgent {
		seen := e.page.view.InfoOf(e.path)
		bind.Watch(ctx, e.page.model.Value, func(v View) {
			if now := v.InfoOf(e.path); now != seen {
				seen = now
				e.readAgain(ctx)
			}
		})
		return
	}
	seen := e.page.e.Feed.View().Changed.Files
	bind.Watch(ctx, e.page.e.Feed.Changed, func(v feed.Changed) {
		if v.Files != seen {
			seen = v.Files
			e.readAgain(ctx)
		}
	})
}

func (e *editor) readAgain(ctx context.Context) {
	text, exists := "", false
	bind.Run(ctx, func(ctx context.Context) (err error) {
		text, exists, err = e.files.Text(ctx, e.path)
		return err
	}, func(err error) {
		if err == nil {
			e.fileChanged(text, exists)
		}
	})
}

// draftKey returns the key of a file's unsaved text.
func draftKey(place protocol.NodeID, path string) string {
	if place == "" {
		return path
	}
	return string(place) + ":" + path
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
		e.showConflict(feed.Conflict{Current: text, Deleted: !there})
	}
}

// textArea is the text of an editor: Ctrl+S saves it, Tab indents, and Ctrl+Tab moves to the next
// control.
type textArea struct {
	widgets.Entry
	onSave func()
}

func newTextArea() *textArea {
	t := &textArea{}
	t.MultiLine, t.Wrapping, t.TextStyle = true, fyne.TextWrapWord, fyne.TextStyle{Monospace: true}
	t.Name = "Text of the file"
	t.ExtendBaseWidget(t)
	return t
}

// TypedShortcut implements fyne.Shortcutable.
func (t *textArea) TypedShortcut(s fyne.Shortcut) {
	k, ok := s.(*desktop.CustomShortcut)
	c := fyne.CurrentApp().Driver().CanvasForObject(t)
	switch isCtrl := ok && k.Modifier&^fyne.KeyModifierShift == fyne.KeyModifierShortcutDefault; {
	case isCtrl && k.KeyName == fyne.KeyTab && c != nil:
		widgets.Choose(k.Modifier == fyne.KeyModifierShortcutDefault, c.FocusNext, c.FocusPrevious)()
	case isCtrl && k.KeyName == fyne.KeyS && k.Modifier == fyne.KeyModifierShortcutDefault:
		t.onSave()
	default:
		t.Entry.TypedShortcut(s)
	}
}

// AcceptsTab implements fyne.Tabbable.
func (t *textArea) AcceptsTab() bool { return true }
