//go:build !(linux || freebsd || openbsd || netbsd || windows)

package app

import "fairlead/app/style"

// systemMode returns the mode that matches the system: the toolkit follows it.
func systemMode() style.Mode { return style.System }

// panelMode returns the mode of the menu bar, which the system gives to icons.
func panelMode() style.Mode { return style.System }
