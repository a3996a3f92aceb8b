package native

import "golang.org/x/sys/windows"

// focusedWindow returns the window in front.
func focusedWindow() (id uintptr, known bool) { return uintptr(windows.GetForegroundWindow()), true }
