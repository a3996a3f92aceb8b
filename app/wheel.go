package app

import (
	"maps"
	"math"
	"runtime"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"github.com/go-gl/glfw/v3.4/glfw"

	"fairlead/app/native"
	"fairlead/app/style"
)

// The toolkit scrolls by 25 points for each step of a mouse wheel, which is little more than a line
// of text. Other programs scroll by about three lines, and so do our windows. macOS needs nothing:
// the system itself accelerates the wheel.
const (
	wheelFactor = 3
	// maxWheel is the largest number of steps at once. From 10 on, the toolkit multiplies them by 125.
	maxWheel = 9
)

// wheels are the windows whose wheels scroll at our speed.
type wheels map[fyne.Window]bool

// update includes new windows. It must run on the GUI thread.
func (s wheels) update(windows []fyne.Window) {
	if runtime.GOOS == "darwin" {
		return
	}
	for _, w := range windows {
		if !s[w] {
			s[w] = speedUpWheel(w)
		}
	}
	if len(s) > len(windows) { // some were closed
		maps.DeleteFunc(s, func(w fyne.Window, _ bool) bool { return !slices.Contains(windows, w) })
	}
}

// speedUpWheel makes a window scroll farther for each step of the wheel. It returns false if the
// system's window does not exist yet.
func speedUpWheel(w fyne.Window) (done bool) {
	if _, ok := w.(driver.NativeWindow); !ok {
		return true // in tests
	}
	native.With(w, func(window *glfw.Window) {
		toolkit := window.SetScrollCallback(nil)
		if toolkit == nil {
			return
		}
		window.SetScrollCallback(func(window *glfw.Window, x, y float64) {
			toolkit(window, wheelSteps(x), wheelSteps(y))
		})
		done = true
	})
	return done
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
