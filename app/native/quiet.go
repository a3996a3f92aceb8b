package native

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// ShowQuietly opens a window in front without taking the keyboard focus, so that a person who types
// in another window is not interrupted. It must run on the GUI thread, and needs the real driver.
//
// On Windows and macOS the toolkit's own hint is enough. An X11 window manager focuses every new
// window unless the window declares, before it is shown, that no user action led to it; see
// [markUnrequested]. Under Wayland no window can take the focus.
func ShowQuietly(w fyne.Window) {
	glfw.WindowHint(glfw.FocusOnShow, glfw.False)
	whenCreated(w, func() { withHandle(w, markUnrequested) })
	w.Show()
	glfw.WindowHint(glfw.FocusOnShow, glfw.True)
	withHandle(w, raise)
}

// withHandle calls f with the system's handle of the window, if there is one.
func withHandle(w fyne.Window, f func(id uintptr)) {
	n, ok := w.(driver.NativeWindow)
	if !ok {
		return
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
		}
	})
}

// IsInFront reports whether one of the windows has the keyboard focus. The toolkit's own answer,
// reported, misses that the focused window was closed or hidden; it is only for systems that cannot
// be asked.
func IsInFront(windows []fyne.Window, reported bool) bool {
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
