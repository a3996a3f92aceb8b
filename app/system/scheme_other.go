//go:build !(linux || freebsd || openbsd || netbsd || windows)

package system

// WindowScheme returns the scheme for windows: the toolkit follows the system.
func WindowScheme() Scheme { return Unknown }

// PanelScheme returns the scheme of the menu bar, which the system gives to icons.
func PanelScheme() Scheme { return Unknown }
