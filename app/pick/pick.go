// Package pick asks for files and folders of this computer: with the desktop's own dialog where
// there is one for other programs, else with a dialog of Fairlead's.
package pick

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/bind"
	"fairlead/app/files"
	"fairlead/app/lists"
	"fairlead/app/native"
	"fairlead/app/preferences"
	"fairlead/app/system"
	"fairlead/app/widgets"
)

// Picker asks questions. It belongs to the GUI thread.
type Picker struct {
	ctx   context.Context
	app   fyne.App
	prefs *preferences.Store
	say   func(string)
	own   fyne.Window // Fairlead's dialog; nil while it is closed
	ask   Ask
}

// Ask shows the desktop's dialog, as [system.Ask] does.
type Ask func(ctx context.Context, parent string, q system.Question) ([]string, error)

// New creates a picker that works until ctx ends. say shows problems.
func New(ctx context.Context, app fyne.App, prefs *preferences.Store, ask Ask, say func(string)) *Picker {
	return &Picker{ctx: ctx, app: app, prefs: prefs, ask: ask, say: say}
}

// OpenFiles asks for one or more existing files. It calls done unless the person cancels.
func (p *Picker) OpenFiles(w fyne.Window, title, button string, done func(paths []string)) {
	p.question(w, system.Question{Kind: system.OpenFiles, Title: title, Button: button}, done)
}

// OpenFile asks for one existing file. It calls done unless the person cancels.
func (p *Picker) OpenFile(w fyne.Window, title, button string, done func(path string)) {
	p.question(w, system.Question{Kind: system.OpenFile, Title: title, Button: button}, func(paths []string) { done(paths[0]) })
}

// SaveFile asks for the path of a file to save. It calls done unless the person cancels.
func (p *Picker) SaveFile(w fyne.Window, title, name string, done func(path string)) {
	p.question(w, system.Question{Kind: system.SaveFile, Title: title, Button: "Save", Name: name}, func(paths []string) { done(paths[0]) })
}

// ChooseFolder asks for a folder. It calls done unless the person cancels.
func (p *Picker) ChooseFolder(w fyne.Window, title, button string, done func(dir string)) {
	p.question(w, system.Question{Kind: system.ChooseFolder, Title: title, Button: button}, func(paths []string) { done(paths[0]) })
}

func (p *Picker) question(w fyne.Window, q system.Question, done func([]string)) {
	if recent := p.prefs.Get().RecentFolders; len(recent) > 0 {
		q.Dir = recent[0]
	}
	parent := portalName(w)
	answer := func(paths []string) {
		if len(paths) == 0 {
			return
		}
		dir := paths[0]
		if q.Kind != system.ChooseFolder {
			dir = filepath.Dir(dir)
		}
		p.prefs.Update(func(r *preferences.Preferences) { r.RecentFolders = addRecent(r.RecentFolders, dir) })
		done(paths)
	}
	bind.Go(p.ctx, func(ctx context.Context) ([]string, error) { return p.ask(ctx, parent, q) }, func(paths []string, err error) {
		switch {
		case errors.Is(err, system.ErrNoDialog):
			p.openOwn(q, answer)
		case err != nil:
			p.say("The file dialog failed: " + err.Error())
		default:
			answer(paths)
		}
	})
}

// addRecent returns a list of recent folders with a folder in front, without the oldest beyond
// five.
func addRecent(list []string, dir string) []string {
	list = append([]string{dir}, lists.Without(list, func(other string) bool { return other == dir })...)
	return list[:min(len(list), 5)]
}

// portalName returns the name of a window for the desktop's dialog, or "" if it has none.
func portalName(w fyne.Window) (name string) {
	if n, ok := w.(driver.NativeWindow); ok {
		n.RunNative(func(context any) {
			if x, ok := context.(driver.X11WindowContext); ok && x.WindowHandle != 0 {
				name = fmt.Sprintf("x11:%x", x.WindowHandle)
			}
		})
	}
	return name
}

// openOwn shows Fairlead's dialog, one at a time.
func (p *Picker) openOwn(q system.Question, answer func([]string)) {
	if p.own != nil {
		p.own.Close()
	}
	ctx, cancel := context.WithCancel(p.ctx)
	var w fyne.Window
	w = native.NewWindow(p.app, q.Title+" – Fairlead", func() {
		cancel()
		if p.own == w {
			p.own = nil
		}
	})
	c := files.NewChooser(ctx, q, p.prefs, func(paths []string) { w.Close(); answer(paths) })
	w.SetPadded(false)
	w.SetContent(widgets.Readable(c.Box))
	w.Resize(fyne.NewSize(780, 540))
	for key, do := range map[fyne.KeyName]func(){fyne.KeyW: w.Close, fyne.KeyL: c.EditPath, fyne.KeyH: c.ToggleHidden} {
		w.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) { do() })
	}
	native.CloseOnEscape(w)
	w.CenterOnScreen()
	p.own = w
	w.Show()
	c.Focus()
}
