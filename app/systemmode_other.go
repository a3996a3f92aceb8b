//go:build !(linux || freebsd || openbsd || netbsd)

package app

import "fairlead/app/style"

// systemMode returns the mode that matches the system: the toolkit follows it.
func systemMode() style.Mode { return style.System }
