package native

import (
	"slices"

	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.4/glfw"
)

// Place is where a window is on the screen, which the toolkit does not tell.
type Place struct {
	IsKnown     bool `json:"known,omitempty"` // not on Wayland, where only the desktop knows it
	X           int  `json:"x,omitempty"`     // of its content, in pixels of the screen
	Y           int  `json:"y,omitempty"`
	IsMaximized bool `json:"maximized,omitempty"`
}

// PlaceOf returns the place of a window. exists is false once the system's window is
// gone, as while the program quits.
func PlaceOf(w fyne.Window) (p Place, exists bool) {
	With(w, func(window *glfw.Window) {
		exists = true
		p.IsMaximized = window.GetAttrib(glfw.Maximized) == glfw.True
		if p.IsKnown = isX11(w); p.IsKnown {
			p.X, p.Y = window.GetPos()
		}
	})
	return p, exists
}

// Request places a window that is not shown yet. It reports false if the place is unknown, or no
// screen has it any more.
func (p Place) Request(w fyne.Window) bool {
	r, ok := w.(interface{ RequestPosition(x, y int) })
	if !ok || !isReal(w) || !p.IsKnown || !slices.ContainsFunc(glfw.GetMonitors(), p.isOn) {
		return false
	}
	r.RequestPosition(p.X, p.Y)
	return true
}

// isOn reports whether a monitor shows the upper left part of a window there.
func (p Place) isOn(m *glfw.Monitor) bool {
	x, y := m.GetPos()
	size := m.GetVideoMode()
	const part = 100
	return p.X >= x && p.Y >= y && p.X+part <= x+size.Width && p.Y+part <= y+size.Height
}

// Restore moves a visible window there.
func (p Place) Restore(w fyne.Window) {
	With(w, func(window *glfw.Window) {
		if p.IsKnown {
			window.SetPos(p.X, p.Y)
		}
		if p.IsMaximized {
			window.Maximize()
		}
	})
}
