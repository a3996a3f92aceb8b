package app

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// place is where a window is on the screen, which the toolkit does not tell.
type place struct {
	isKnown     bool // not on Wayland, where only the desktop knows it
	x, y        int  // of its content, in pixels of the screen
	isMaximized bool
}

func placeOf(w fyne.Window) (p place) {
	isX11 := false
	if native, ok := w.(driver.NativeWindow); ok {
		native.RunNative(func(context any) { _, isX11 = context.(driver.X11WindowContext) })
	}
	withSystemWindow(w, func(window *glfw.Window) {
		p.isMaximized = window.GetAttrib(glfw.Maximized) == glfw.True
		if p.isKnown = isX11; isX11 {
			p.x, p.y = window.GetPos()
		}
	})
	return p
}

// restore moves a visible window there.
func (p place) restore(w fyne.Window) {
	withSystemWindow(w, func(window *glfw.Window) {
		if p.isKnown {
			window.SetPos(p.x, p.y)
		}
		if p.isMaximized {
			window.Maximize()
		}
	})
}

// withSystemWindow calls f with the system's window, if it exists. f runs on the GUI thread, before
// withSystemWindow returns.
func withSystemWindow(w fyne.Window, f func(*glfw.Window)) {
	native, ok := w.(interface {
		driver.NativeWindow
		RunWithContext(f func())
	})
	if !ok || !exists(native) {
		return
	}
	native.RunWithContext(func() {
		if window := glfw.GetCurrentContext(); window != nil {
			f(window)
		}
	})
}

// exists reports whether the system's window exists.
func exists(w driver.NativeWindow) (ok bool) {
	w.RunNative(func(context any) {
		switch c := context.(type) {
		case driver.X11WindowContext:
			ok = c.WindowHandle != 0
		case driver.WindowsWindowContext:
			ok = c.HWND != 0
		case driver.WaylandWindowContext:
			ok = c.WaylandSurface != 0
		}
	})
	return ok
}
