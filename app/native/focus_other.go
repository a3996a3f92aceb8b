//go:build !(linux || freebsd || openbsd || netbsd || windows)

package native

// focusedWindow cannot be asked for on this system.
func focusedWindow() (id uintptr, known bool) { return 0, false }
