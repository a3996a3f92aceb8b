package native

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// Place is where a window is on the screen, which the toolkit does not tell.
type Place struct {
	IsKnown     bool // not on Wayland, where only the desktop knows it
	x, y        int  // of its content, in pixels of the screen
	isMaximized bool
}

// PlaceOf returns the place of a window.
func PlaceOf(w fyne.Window) (p Place) {
	isX11 := false
	if native, ok := w.(driver.NativeWindow); ok {
		native.RunNative(func(context any) { _, isX11 = context.(driver.X11WindowContext) })
	}
	With(w, func(window *glfw.Window) {
		p.isMaximized = window.GetAttrib(glfw.Maximized) == glfw.True
		if p.IsKnown = isX11; isX11 {
			p.x, p.y = window.GetPos()
		}
	})
	return p
}

// Restore moves a visible window there.
func (p Place) Restore(w fyne.Window) {
	With(w, func(window *glfw.Window) {
		if p.IsKnown {
			window.SetPos(p.x, p.y)
		}
		if p.isMaximized {
			window.Maximize()
		}
	})
}
