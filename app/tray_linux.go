package app

import "fairlead/gateway/peer/bus"

// trayAvailable reports whether a panel shows tray icons. A window that is hidden without one could never be found again.
func trayAvailable() bool {
	conn, err := bus.Connect()
	if err != nil {
		return false
	}
	defer conn.Close()
	var owned bool
	err = conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&owned)
	return err == nil && owned
}
