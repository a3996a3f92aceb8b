package app

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// showQuietly opens a window in front without taking the keyboard focus, so that a person who types
// in another window is not interrupted. It must run on the GUI thread, and needs the real driver.
//
// On Windows and macOS the toolkit's own hint is enough. An X11 window manager focuses every new
// window unless the window declares, before it is shown, that no user action led to it; see
// [markUnrequested]. Under Wayland no window can take the focus.
func showQuietly(w fyne.Window) {
	glfw.WindowHint(glfw.FocusOnShow, glfw.False)
	w.SetContent(container.New(&measureHook{func() bool { return withHandle(w, markUnrequested) }}, w.Content()))
	w.Show()
	glfw.WindowHint(glfw.FocusOnShow, glfw.True)
	withHandle(w, raise)
}

// withHandle calls f with the system's handle of the window, once there is one.
func withHandle(w fyne.Window, f func(id uintptr)) (called bool) {
	n, ok := w.(driver.NativeWindow)
	if !ok {
		return true
	}
	n.RunNative(func(context any) {
		var id uintptr
		switch x := context.(type) {
		case driver.X11WindowContext:
			id = x.WindowHandle
		case driver.WindowsWindowContext:
			id = x.HWND
		}
		if id != 0 {
			f(id)
			called = true
		}
	})
	return called
}

// isInFront reports whether one of the windows has the keyboard focus. The toolkit's own answer,
// reported, misses that the focused window was closed or hidden; it is only for systems that cannot
// be asked.
func isInFront(windows []fyne.Window, reported bool) bool {
	focused, known := focusedWindow()
	if !known {
		return reported
	}
	for _, w := range windows {
		found := false
		withHandle(w, func(id uintptr) { found = id == focused })
		if found {
			return true
		}
	}
	return false
}

// measureHook gives its only object the full size, and calls a function at the first measurement.
// The toolkit measures a new window's content after the window was created and before it is shown,
// and has no other hook at that moment.
type measureHook struct {
	do func() (done bool) // called again until it reports done
}

// MinSize implements fyne.Layout.
func (l *measureHook) MinSize(o []fyne.CanvasObject) fyne.Size {
	if do := l.do; do != nil {
		l.do = nil // do may cause another measurement
		if !do() {
			l.do = do
		}
	}
	return o[0].MinSize()
}

// Layout implements fyne.Layout.
func (l *measureHook) Layout(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) }
