// Package tray shows the tray icon and its menu for a snapshot of the program's state. When the
// snapshot changes, it rebuilds the whole menu, because the library cannot list or remove single
// entries of a menu.
package tray

import (
	"reflect"
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/assets"
	"fairlead/gateway/peer/display"
)

// Tray is the icon in the panel. It belongs to the GUI thread.
type Tray struct {
	app     desktop.App
	run     func(state.TrayItem)
	current state.Tray
	isDrawn bool
}

// New adds an icon to the panel. do is called with the chosen entry.
func New(app desktop.App, do func(state.TrayItem)) *Tray { return &Tray{app: app, run: do} }

// Show shows a snapshot, if it differs from the current one.
func (t *Tray) Show(s state.Tray) {
	if t.isDrawn && reflect.DeepEqual(s, t.current) {
		return
	}
	if !t.isDrawn || s.Icon != t.current.Icon || s.Needs != t.current.Needs {
		t.app.SetSystemTrayIcon(style.TrayIcon(icons[s.Icon], s.Needs))
	}
	t.app.SetSystemTrayMenu(fyne.NewMenu("Fairlead", t.items(s.Items)...))
	t.current, t.isDrawn = s, true
}

var icons = map[state.TrayIcon]assets.TrayState{
	state.TrayIdle: assets.TrayIdle, state.TrayWorking: assets.TrayWorking, state.TrayNeedsYou: assets.TrayNeedsYou,
	state.TrayOffline: assets.TrayOffline, state.TrayError: assets.TrayError,
}

// plain escapes a label so that the system shows it literally: freedesktop menus use an underscore,
// and Windows an ampersand, to mark a mnemonic, and show a doubled one as a single one. It removes
// invisible characters, such as direction marks.
func plain(label, system string) string {
	label = display.Line(label, 0)
	switch system {
	case "windows":
		return strings.ReplaceAll(label, "&", "&&")
	case "darwin":
		return label
	}
	return strings.ReplaceAll(label, "_", "__")
}

func (t *Tray) items(list []state.TrayItem) []*fyne.MenuItem {
	var out []*fyne.MenuItem
	for _, i := range list {
		if i.Separator {
			out = append(out, fyne.NewMenuItemSeparator())
			continue
		}
		item := fyne.NewMenuItem(plain(i.Label, runtime.GOOS), func() { t.run(i) })
		item.Disabled, item.Checked = i.Disabled, i.Checked
		item.IsQuit = i.Do == state.TrayQuit
		if len(i.Items) > 0 {
			item.ChildMenu = fyne.NewMenu(item.Label, t.items(i.Items)...)
		}
		out = append(out, item)
	}
	return out
}
