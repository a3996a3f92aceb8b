//go:build desktop

package desktoptest

import (
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"
)

// The tray's menu as a panel sees it (com.canonical.dbusmenu).
const (
	menuPath  = dbus.ObjectPath("/StatusNotifierItem/menu")
	menuIface = "com.canonical.dbusmenu"
)

// menuEntry is an entry of the tray's menu. Its label includes the labels of its parents: "Recent
// chats/read README.md".
type menuEntry struct {
	id       int32
	label    string
	disabled bool
}

// menuLayout is an entry as transmitted on the bus.
type menuLayout struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

// trayMenu reads the program's tray menu.
func (d *desktop) trayMenu() (entries []menuEntry) {
	d.t.Helper()
	if d.bus == nil {
		conn, err := dbus.ConnectSessionBus()
		if err != nil {
			d.t.Fatal(err)
		}
		d.t.Cleanup(func() { conn.Close() })
		d.bus = conn
	}
	menu := d.bus.Object(d.trayItem(), menuPath)
	var revision uint32
	var root menuLayout
	if err := menu.Call(menuIface+".GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		d.t.Fatalf("read the tray's menu: %v", err)
	}
	var walk func(under string, lines []dbus.Variant)
	walk = func(under string, lines []dbus.Variant) {
		for _, c := range lines {
			var l menuLayout
			if err := dbus.Store([]any{c.Value()}, &l); err != nil {
				d.t.Fatalf("read a line of the tray's menu: %v", err)
			}
			label, ok := l.Props["label"].Value().(string)
			if !ok {
				continue
			}
			enabled, said := l.Props["enabled"].Value().(bool)
			entries = append(entries, menuEntry{l.ID, under + label, said && !enabled})
			walk(under+label+"/", l.Children)
		}
	}
	walk("", root.Children)
	return entries
}

// waitTray waits until the tray's menu has an entry whose label begins with prefix.
func (d *desktop) waitTray(prefix string) menuEntry {
	d.t.Helper()
	var found menuEntry
	var have []menuEntry
	d.waitFor("the entry "+prefix+" in the tray", func() bool {
		have = d.trayMenu()
		i := slices.IndexFunc(have, func(e menuEntry) bool { return strings.HasPrefix(e.label, prefix) })
		if i >= 0 {
			found = have[i]
		}
		return i >= 0
	})
	return found
}

// chooseTray activates the entry that begins with prefix, as a panel does when a person clicks it.
func (d *desktop) chooseTray(prefix string) {
	d.t.Helper()
	e := d.waitTray(prefix)
	menu := d.bus.Object(d.trayItem(), menuPath)
	if call := menu.Call(menuIface+".Event", 0, e.id, "clicked", dbus.MakeVariant(int32(0)), uint32(0)); call.Err != nil {
		d.t.Fatalf("choose %s in the tray: %v", prefix, call.Err)
	}
}
