//go:build desktop

package desktoptest

import (
	"github.com/godbus/dbus/v5"
)

// The tray's menu as a panel sees it (com.canonical.dbusmenu).
const (
	menuPath  = dbus.ObjectPath("/StatusNotifierItem/menu")
	menuIface = "com.canonical.dbusmenu"
)

// entry is a line of the tray's menu.
type entry struct {
	id    int32
	label string
}

// trayMenu reads the first level of the program's tray menu.
func (d *desktop) trayMenu() (menu dbus.BusObject, entries []entry) {
	d.t.Helper()
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { conn.Close() })
	menu = conn.Object(d.trayItem(), menuPath)
	var revision uint32
	var root struct {
		ID       int32
		Props    map[string]dbus.Variant
		Children []dbus.Variant
	}
	if err := menu.Call(menuIface+".GetLayout", 0, int32(0), int32(1), []string{}).Store(&revision, &root); err != nil {
		d.t.Fatalf("read the tray's menu: %v", err)
	}
	for _, c := range root.Children {
		var line struct {
			ID       int32
			Props    map[string]dbus.Variant
			Children []dbus.Variant
		}
		if err := dbus.Store([]any{c.Value()}, &line); err != nil {
			d.t.Fatalf("read a line of the tray's menu: %v", err)
		}
		if label, ok := line.Props["label"].Value().(string); ok {
			entries = append(entries, entry{line.ID, label})
		}
	}
	return menu, entries
}

// chooseTray clicks on a line of the tray's menu, as the panel does for a person.
func (d *desktop) chooseTray(label string) {
	d.t.Helper()
	menu, entries := d.trayMenu()
	for _, e := range entries {
		if e.label == label {
			call := menu.Call(menuIface+".Event", 0, e.id, "clicked", dbus.MakeVariant(int32(0)), uint32(0))
			if call.Err != nil {
				d.t.Fatalf("choose %s in the tray: %v", label, call.Err)
			}
			return
		}
	}
	d.t.Fatalf("the tray's menu has no %q, it has %v", label, entries)
}
