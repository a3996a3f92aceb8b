package files

import (
	"context"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
)

// conflict asks which of two versions to keep.
func (e *editor) conflict(c state.Conflict) {
	e.theirs = c
	e.told.Set("This file changed on disk while you were editing it. Keep your version or the one on disk?", style.ColorText)
	if c.Gone {
		e.told.Set("This file was deleted while you were editing it. Keep your version?", style.ColorText)
	}
	e.clash.Show()
	e.say("", style.ColorMuted)
}

func (e *editor) keepMine() {
	e.base, e.there = e.theirs.Theirs, !e.theirs.Gone
	e.clash.Hide()
	e.save()
}

func (e *editor) takeTheirs() {
	e.clash.Hide()
	e.p.app.Drafts.Save(e.path, "")
	if e.theirs.Gone {
		e.p.close()
		return
	}
	e.base, e.there = e.theirs.Theirs, true
	e.text.SetText(e.base)
	e.say("", style.ColorMuted)
}

// follow reads the file again whenever files on the disk changed, while this editor is open.
func (e *editor) follow() {
	if e.fresh {
		return
	}
	ctx, cancel := context.WithCancel(e.p.ctx)
	e.seen = e.p.app.Value.Get().FilesChanged
	e.v.end = cancel
	bind.Watch(ctx, e.p.app.Value, func(v state.View) {
		if v.FilesChanged == e.seen {
			return
		}
		e.seen = v.FilesChanged
		type now struct {
			text  string
			there bool
		}
		bind.Go(ctx, func(ctx context.Context) (now, error) {
			text, there, err := e.p.m.Text(ctx, e.path)
			return now{text, there}, err
		}, func(n now, err error) {
			if err == nil {
				e.changed(n.text, n.there)
			}
		})
	})
}

// changed handles a new version on the disk. Without unsaved changes the editor shows it at once.
func (e *editor) changed(text string, there bool) {
	switch {
	case there == e.there && (text == e.base || !there):
	case there && text == e.text.Text: // the editor itself saved this version
		e.base, e.there = text, true
		e.typed()
	case !e.dirty() && there:
		e.base, e.there = text, true
		e.text.SetText(text)
		e.say("The file changed on disk. This is the current version.", style.ColorMuted)
	default:
		e.conflict(state.Conflict{Theirs: text, Gone: !there})
	}
}
