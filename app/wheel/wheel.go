// Package wheel makes mouse wheels scroll as far as in other programs, and the innermost object that can
// move.
package wheel

import (
	"maps"
	"math"
	"runtime"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver"
	"github.com/go-gl/glfw/v3.4/glfw"

	"fairlead/app/native"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// The toolkit scrolls by 25 points for each step of a mouse wheel, which is little more than a line
// of text. Other programs scroll by about three lines, and so do our windows. macOS needs nothing:
// the system itself accelerates the wheel.
const (
	wheelFactor = 3
	// maxWheel is the largest number of steps at once, unless the system reports more.
	maxWheel = 9
)

// stepLength is how far the toolkit scrolls for each step.
var stepLength = widgets.Choose[float64](runtime.GOOS == "darwin", 10, 25)

// Windows are the windows whose wheels scroll in our way.
type Windows map[fyne.Window]bool

// Update includes new windows. It must run on the GUI thread.
func (s Windows) Update(windows []fyne.Window) {
	for _, w := range windows {
		if !s[w] {
			s[w] = catchWheel(w)
		}
	}
	if len(s) > len(windows) { // some were closed
		maps.DeleteFunc(s, func(w fyne.Window, _ bool) bool { return !slices.Contains(windows, w) })
	}
}

// catchWheel handles the wheel of a window instead of the toolkit, which gives it to the innermost
// object under the pointer even if that cannot scroll, such as a text field on a page. It returns
// false if the system's window does not exist yet.
func catchWheel(w fyne.Window) (done bool) {
	if _, ok := w.(driver.NativeWindow); !ok {
		return true // in tests
	}
	native.With(w, func(window *glfw.Window) {
		window.SetScrollCallback(func(window *glfw.Window, x, y float64) {
			isShift := window.GetKey(glfw.KeyLeftShift) == glfw.Press || window.GetKey(glfw.KeyRightShift) == glfw.Press
			if runtime.GOOS != "darwin" {
				x, y = wheelSteps(x), wheelSteps(y)
				if isShift && x == 0 {
					x, y = y, 0
				}
			}
			c := w.Canvas()
			px, py := window.GetCursorPos()
			at := fyne.NewPos(float32(px)/c.Scale(), float32(py)/c.Scale())
			scrollAt(c, at, fyne.NewDelta(float32(x*stepLength), float32(y*stepLength)))
		})
		native.GuardEvents(w, window)
		done = true
	})
	return done
}

// scrollAt scrolls the innermost object at a position of a canvas that can move in the direction.
func scrollAt(c fyne.Canvas, at fyne.Position, by fyne.Delta) {
	for _, s := range native.ScrollablesAt(c, at) {
		if canScroll(s, by) {
			s.Scrolled(&fyne.ScrollEvent{PointEvent: fyne.PointEvent{AbsolutePosition: at}, Scrolled: by})
			return
		}
	}
}

// canScroll reports whether an object can move in the main direction of a scroll event.
func canScroll(o fyne.Scrollable, by fyne.Delta) bool {
	vertical := math.Abs(float64(by.DY)) >= math.Abs(float64(by.DX))
	if vertical {
		by.DX = 0
	} else {
		by.DY = 0
	}
	switch s := o.(type) {
	case *widgets.Scroller:
		return s.CanScroll(by)
	case *container.Scroll:
		isOff := s.Content == nil || s.Direction == container.ScrollNone ||
			s.Direction == container.ScrollHorizontalOnly && vertical || s.Direction == container.ScrollVerticalOnly && !vertical
		if isOff {
			return false
		}
		room := s.Content.Size().Subtract(s.Size())
		return hasRoom(s.Offset.X, room.Width, by.DX) || hasRoom(s.Offset.Y, room.Height, by.DY)
	}
	return true
}

// hasRoom reports whether an offset that is at most limit can change; by is positive towards 0.
func hasRoom(offset, limit, by float32) bool {
	return by > 0 && offset > 0 || by < 0 && offset < limit-0.5
}

// wheelSteps returns the number of steps for the toolkit. Only a wheel moves in whole or half steps;
// a touchpad is fast enough.
func wheelSteps(n float64) float64 {
	if n == 0 || math.Abs(n) >= maxWheel || n*2 != math.Trunc(n*2) {
		return n
	}
	factor := wheelFactor * float64(style.Size("text")) / 14
	return min(max(n*factor, -maxWheel), maxWheel)
}
