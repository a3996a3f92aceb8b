package app

import "fairlead/gateway/peer/keychain"

// trayAvailable reports whether the desktop shows tray icons.
func trayAvailable() bool {
	conn, err := keychain.ConnectSessionBus()
	if err != nil {
		return false
	}
	defer conn.Close()
	var owned bool
	err = conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&owned)
	return err == nil && owned
}
