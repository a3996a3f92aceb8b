package native

import (
	"reflect"
	"runtime"
	"unsafe"

	"fyne.io/fyne/v2"
	_ "fyne.io/fyne/v2/app" // links the driver
	"fyne.io/fyne/v2/theme"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// NewWindow creates a window that appears with its first frame, or with the theme's background until
// then. Its texts are freed when it is closed. closed, which may be nil, is called then.
func NewWindow(a fyne.App, title string, closed func()) fyne.Window {
	w := a.NewWindow(title)
	if isReal(w) { // the toolkit uses neither buffer, and clears both in each frame
		glfw.WindowHint(glfw.DepthBits, 0)
		glfw.WindowHint(glfw.StencilBits, 0)
	}
	w.SetOnClosed(func() {
		FreeTexts(w)
		if closed != nil {
			closed()
		}
	})
	whenCreated(w, func() {
		SetBackground(w)
		paint(a.Driver(), w)
	})
	return w
}

// SetBackground sets what the system shows of a window until the program has painted it, to the
// background of the theme. Call it again after a change of the theme.
func SetBackground(w fyne.Window) {
	withHandle(w, func(id uintptr) { setBackground(id, theme.Color(theme.ColorNameBackground)) })
}

// Fyne shows a window before it has painted it (fyne 2.8.0, internal/driver/glfw/window.go): the
// window is black until everything in it was measured and its texts were drawn.
//
//go:linkname runWhenCreated fyne.io/fyne/v2/internal/driver/glfw.(*window).runOnMainWhenCreated
func runWhenCreated(window unsafe.Pointer, f func())

//go:linkname repaintWindow fyne.io/fyne/v2/internal/driver/glfw.(*gLDriver).repaintWindow
func repaintWindow(driver, window unsafe.Pointer) bool

// whenCreated calls f when the system's window exists, before it is shown.
func whenCreated(w fyne.Window, f func()) {
	if isReal(w) {
		runWhenCreated(reflect.ValueOf(w).UnsafePointer(), f)
	}
}

// paint paints a window at once. If it is not shown yet, X11 forgets the picture, but the second
// painting is much faster than the first.
func paint(d fyne.Driver, w fyne.Window) {
	draw(w, func(window *glfw.Window) {
		repaintWindow(reflect.ValueOf(d).UnsafePointer(), reflect.ValueOf(w).UnsafePointer())
		if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
			window.SwapBuffers()
		}
	})
}

// isReal reports whether the window has the driver of the desktop, not of tests.
func isReal(w fyne.Window) bool { return reflect.TypeOf(w).String() == "*glfw.window" }
