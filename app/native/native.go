// Package native does with windows what Fyne has no functions for: it reaches the system's windows,
// and frees what Fyne remembers of closed and hidden ones.
package native

import (
	"reflect"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// With calls f with the system's window, if it exists. f runs on the GUI thread, before
// With returns. It begins no frame, for which OpenGL would take the present size of the window; see
// drawTwice.
func With(w fyne.Window, f func(*glfw.Window)) {
	if native, ok := w.(driver.NativeWindow); !ok || !exists(native) {
		return
	}
	if window, ok := field(reflect.ValueOf(w), "viewport").Interface().(*glfw.Window); ok && window != nil {
		f(window)
	}
}

// draw is With for f that draws, or frees what was drawn.
func draw(w fyne.Window, f func(*glfw.Window)) {
	With(w, func(window *glfw.Window) {
		if context, ok := w.(interface{ RunWithContext(f func()) }); ok {
			context.RunWithContext(func() { f(window) })
		}
	})
}

// Terminate closes the system's windows when the toolkit's loop has failed. Nothing may use them
// afterwards. Call it on the GUI thread.
func Terminate() {
	gui.stop()
	glfw.Terminate()
}

func isX11(w fyne.Window) (is bool) {
	if native, ok := w.(driver.NativeWindow); ok {
		native.RunNative(func(context any) { _, is = context.(driver.X11WindowContext) })
	}
	return is
}

// CloseOnEscape closes a window when Escape is pressed and nothing in it has the focus.
func CloseOnEscape(w fyne.Window) {
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			w.Close()
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
		case driver.MacWindowContext:
			ok = c.NSWindow != 0
		case driver.WaylandWindowContext:
			ok = c.WaylandSurface != 0
		}
	})
	return ok
}
