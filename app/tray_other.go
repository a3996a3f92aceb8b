//go:build !linux

package app

// trayAvailable reports whether the desktop shows tray icons: macOS and Windows always do.
func trayAvailable() bool { return true }
