package files

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	"fairlead/app/bind"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/app/widgets"
	"fairlead/app/wording"
)

// ToggleHidden shows hidden files or leaves them out (Ctrl+H).
func (c *Chooser) ToggleHidden() {
	c.showHidden = !c.showHidden
	c.prefs.Update(func(r *preferences.Preferences) { r.FilesHidden = c.showHidden })
	c.arrange()
}

// EditPath lets the person type the folder's path (Ctrl+L).
func (c *Chooser) EditPath() { c.path.edit() }

// Focus focuses the field that the person uses first.
func (c *Chooser) Focus() {
	if c.name == nil {
		widgets.FocusIn(c.Box, c.filter)
		return
	}
	c.name.edit(c.Box)
	c.name.selectStart(utf8.RuneCountInString(Entry{Path: c.q.Name}.Stem()))
}

func (c *Chooser) cancel() { c.done(nil) }

func (c *Chooser) up() { c.Enter(path.Dir(c.dir)) }

func (c *Chooser) openFirst() {
	if len(c.chosenFiles()) > 0 || len(c.list.entries) == 0 {
		c.accept()
		return
	}
	c.open(c.list.entries[0])
}

// open enters a folder or chooses a file.
func (c *Chooser) open(e Entry) {
	switch {
	case e.Dir:
		c.Enter(e.Path)
		widgets.Focus(c.list)
	case c.name != nil:
		c.name.SetText(e.Name())
		c.accept()
	default:
		c.done([]string{filepath.FromSlash(e.Path)})
	}
}

func (c *Chooser) accept() {
	switch c.q.Kind {
	case system.ChooseFolder:
		c.done([]string{c.folder()})
	case system.SaveFile:
		c.save(savePath(c.dir, c.name.Text))
	default:
		if files := c.chosenFiles(); len(files) > 0 {
			c.done(files)
		}
	}
}

// save chooses the path of a file to save. An existing file is replaced only when asked twice.
func (c *Chooser) save(to string) {
	bind.Go(c.ctx, func(context.Context) (os.FileInfo, error) {
		if _, err := os.Stat(filepath.FromSlash(path.Dir(to))); err != nil {
			return nil, err
		}
		info, _ := os.Stat(filepath.FromSlash(to))
		return info, nil
	}, func(info os.FileInfo, err error) {
		switch {
		case err != nil:
			c.note.Set("This folder does not exist: "+path.Dir(to), style.ColorBad)
		case info != nil && info.IsDir():
			c.Enter(to)
		case info != nil && c.replace != to:
			c.replace = to
			c.note.Set(fmt.Sprintf("Replace the existing file “%s”?", wording.VisibleName(path.Base(to))), style.ColorNeedsYou)
			c.confirm.SetText("Replace")
		default:
			c.done([]string{filepath.FromSlash(to)})
		}
	})
}

// askAgain forgets that the person was asked whether to replace a file.
func (c *Chooser) askAgain() {
	c.replace = ""
	c.confirm.SetText(c.q.Button)
	c.note.Set("", style.ColorMuted)
	widgets.SetEnabled(c.confirm, c.name == nil || c.name.Text != "")
}

func (c *Chooser) newFolder() {
	there := c.entries
	dir := c.dir
	bind.Go(c.ctx, func(context.Context) (string, error) { return makeLocalFolder(dir, there) }, func(made string, err error) {
		if err != nil {
			c.note.Set(err.Error(), style.ColorBad)
			return
		}
		c.renamePath = made
		c.Enter(dir)
	})
}

func (c *Chooser) rename(old, name string) {
	bind.Go(c.ctx, func(context.Context) (string, error) { return renameLocal(old, name) }, func(to string, err error) {
		if err != nil {
			c.note.Set(err.Error(), style.ColorBad)
			return
		}
		c.Enter(to)
	})
}
