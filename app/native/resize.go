package native

import "github.com/go-gl/glfw/v3.4/glfw"

// resizedCanvas is a canvas of the toolkit, which draws a dirty one at the end of its loop.
type resizedCanvas interface {
	CheckDirtyAndClear() bool
	SetDirty()
}

// drawTwice replaces the handler of a window's size: the window is drawn twice after its last
// change. OpenGL learns the size of a window when it begins a frame, which may be before the toolkit
// learns it; after that frame, the window would show its content shifted and cut off, and clicks
// would miss what they aim at, until something in the window changes. later queues a function for
// the GUI thread, and paint paints at once.
func drawTwice(setResized func(glfw.SizeCallback) glfw.SizeCallback, c resizedCanvas, later func(func()), paint func()) {
	resized := setResized(nil)
	if resized == nil {
		return
	}
	isQueued := false
	setResized(func(w *glfw.Window, width, height int) {
		resized(w, width, height)
		if isQueued {
			return
		}
		isQueued = true
		later(func() {
			isQueued = false
			if c.CheckDirtyAndClear() {
				paint() // the toolkit has not yet drawn the first frame
			}
			c.SetDirty()
		})
	})
}
