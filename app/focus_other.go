//go:build !(linux || freebsd || openbsd || netbsd || windows)

package app

// focusedWindow cannot be asked for on this system.
func focusedWindow() (id uintptr, known bool) { return 0, false }
