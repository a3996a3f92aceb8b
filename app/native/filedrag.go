package native

import (
	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// OnFileDrag calls moved with the position of the pointer while another program drags files over a
// window, and ended after it has dropped them there or given up. Nothing reports that the pointer has
// left the window meanwhile: ask [IsUnderPointer].
//
// Only X11 reports positions: GLFW 3.4 answers XdndPosition there, and reads the event under Wayland
// without passing it on (wl_window.c, dataDeviceHandleMotion). For Windows (WM_DROPFILES) and macOS
// (performDragOperation) it learns of the drop alone. Call it after SetOnDropped.
func OnFileDrag(w fyne.Window, moved func(at fyne.Position), ended func()) {
	whenCreated(w, func() {
		if !isX11(w) {
			return
		}
		With(w, func(window *glfw.Window) {
			d := &fileDrag{ended: ended}
			note, drop := window.SetCursorPosCallback(nil), window.SetDropCallback(nil)
			window.SetCursorEnterCallback(func(_ *glfw.Window, entered bool) { d.cross(entered) })
			window.SetCursorPosCallback(func(window *glfw.Window, x, y float64) {
				note(window, x, y)
				if d.isDrag(window.GetMouseButton) {
					moved(fyne.NewPos(float32(x)/w.Canvas().Scale(), float32(y)/w.Canvas().Scale()))
				}
			})
			window.SetDropCallback(func(window *glfw.Window, names []string) {
				d.end()
				drop(window, names)
			})
		})
	})
}

// IsUnderPointer reports whether the pointer is over a window, and over no other window above it.
func IsUnderPointer(w fyne.Window) (is bool) {
	With(w, func(window *glfw.Window) { is = window.GetAttrib(glfw.Hovered) == glfw.True })
	return is
}

// fileDrag tells the movements of a drag from those of the pointer. A program that drags has grabbed
// the pointer: its movements reach no other window, and neither does that it enters one. So a
// position in a window that the pointer has not entered is that of a drag, unless one of the window's
// own buttons is held, which reports movements outside.
type fileDrag struct {
	isInside bool // the pointer has entered the window
	isOver   bool // a drag was reported and has not ended
	ended    func()
}

// cross notes that the pointer has entered or left the window. It enters when a drag over it ends.
func (d *fileDrag) cross(entered bool) {
	if d.isInside = entered; entered {
		d.end()
	}
}

// isDrag reports whether a position is that of a drag.
func (d *fileDrag) isDrag(button func(glfw.MouseButton) glfw.Action) bool {
	if d.isInside {
		return false
	}
	for _, b := range []glfw.MouseButton{glfw.MouseButtonLeft, glfw.MouseButtonMiddle, glfw.MouseButtonRight} {
		if button(b) == glfw.Press {
			return false
		}
	}
	d.isOver = true
	return true
}

func (d *fileDrag) end() {
	if d.isOver {
		d.isOver = false
		d.ended()
	}
}
