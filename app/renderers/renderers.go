// Package renderers frees what the toolkit remembers of widgets that no window shows.
package renderers

import (
	"time"
	_ "unsafe" // for go:linkname
)

// Age is how long the toolkit keeps the renderer of a widget after its last use.
const Age = time.Minute

// Fyne frees old renderers, and with them their widgets, only after it has painted a window (fyne
// 2.8.0, internal/cache/base.go). A program in the tray paints none: it would keep each page and
// window of the last minute, 10 MB after some use. Fyne has no function for that, so this is its own.
//
//go:linkname clean fyne.io/fyne/v2/internal/cache.Clean
func clean(painted bool)

// Free frees the renderers that were not used for [Age], within 10 seconds. Call it on the GUI
// thread. What a window shows is in use, also while the window is hidden.
func Free() { clean(true) }
