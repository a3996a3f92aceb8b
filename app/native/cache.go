package native

import (
	"time"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// RendererAge is how long the toolkit keeps the renderer of a widget after its last use.
const RendererAge = time.Minute

// Fyne frees old renderers, and with them their widgets, only after it has painted a window (fyne
// 2.8.0, internal/cache/base.go). A program in the tray paints none: it would keep each page and
// window of the last minute, 10 MB after some use.
//
//go:linkname clean fyne.io/fyne/v2/internal/cache.Clean
func clean(painted bool)

// FreeRenderers frees the renderers that were not used for [RendererAge], within 10 seconds. Call it
// on the GUI thread. What a window shows is in use, also while the window is hidden.
func FreeRenderers() { clean(true) }

// Fyne keeps the pictures of the texts that a window has drawn until the program ends, and with them
// the content of the window (fyne 2.8.0, internal/cache/texture_common.go): some megabytes for each
// window.
//
//go:linkname deleteTexts fyne.io/fyne/v2/internal/cache.DeleteTextTexturesFor
func deleteTexts(fyne.Canvas)

// FreeTexts frees the texts that a window has drawn. Call it on the GUI thread when the window is
// about to be closed, such as in OnClosed.
func FreeTexts(w fyne.Window) {
	draw(w, func(*glfw.Window) { deleteTexts(w.Canvas()) })
}
