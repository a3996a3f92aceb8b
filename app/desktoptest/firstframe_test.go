//go:build desktop

package desktoptest

import (
	"bytes"
	"testing"

	"github.com/jezek/xgb/xproto"
)

// TestNewWindowIsNeverBlack takes pictures of the screen's middle, which is black, while the program
// starts: as soon as its window is there, the middle has the window's colour.
func TestNewWindowIsNeverBlack(t *testing.T) {
	d := newDesktop(t)
	screen := xproto.Setup(d.eye.c).DefaultScreen(d.eye.c)
	middle := window{x: int(screen.WidthInPixels/2) - 50, y: int(screen.HeightInPixels/2) - 50, w: 100, h: 100}
	black := make([]byte, 100*100*4)
	for i := 3; i < len(black); i += 4 {
		black[i] = 255
	}
	stop, done := make(chan struct{}), make(chan struct{})
	pictures, bad := 0, 0 // with a window; black ones
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			shown := d.eye.showsWindow()
			pic, err := d.eye.look(middle)
			if err != nil || !shown {
				continue
			}
			pictures++
			if bytes.Equal(pic.Pix, black) {
				bad++
			}
		}
	}()
	start(d)
	close(stop)
	<-done
	if pictures == 0 || bad > 0 {
		t.Errorf("of %d pictures with the window, %d are black", pictures, bad)
	}
}

// showsWindow reports whether a window covers the screen's middle.
func (e *eye) showsWindow() bool {
	tree, err := xproto.QueryTree(e.c, e.root).Reply()
	if err != nil {
		return false
	}
	for _, id := range tree.Children {
		a, errA := xproto.GetWindowAttributes(e.c, id).Reply()
		g, errG := xproto.GetGeometry(e.c, xproto.Drawable(id)).Reply()
		if errA == nil && errG == nil && a.MapState == xproto.MapStateViewable && g.Width > 400 && g.Height > 400 {
			return true
		}
	}
	return false
}
