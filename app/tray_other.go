//go:build !linux

package app

// trayAvailable reports whether a panel shows tray icons: macOS and Windows always have one.
func trayAvailable() bool { return true }
