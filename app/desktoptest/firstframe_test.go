//go:build desktop

package desktoptest

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
)

// TestNewWindowIsNeverBlack takes pictures of the screen's middle, which is black, while the
// program starts: as soon as its window is there, the middle has the window's colour.
func TestNewWindowIsNeverBlack(t *testing.T) {
	d := newDesktop(t)
	screen := xproto.Setup(d.screen.c).DefaultScreen(d.screen.c)
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
			shown := d.screen.showsWindow()
			pic, err := d.screen.capture(middle)
			if err != nil || !shown {
				continue
			}
			pictures++
			if bytes.Equal(pic.Pix, black) {
				bad++
			}
		}
	}()
	startProgram(d)
	close(stop)
	<-done
	if pictures == 0 || bad > 0 {
		t.Errorf("of %d pictures with the window, %d are black", pictures, bad)
	}
}

// TestResizedWindowIsDrawnForItsSize resizes a window that is at rest, once and many times in a
// row: the picture that stays is that of the last size, without a black or an empty part, and with
// everything where a click finds it. A click on a text that has moved since it was read follows it.
func TestResizedWindowIsDrawnForItsSize(t *testing.T) {
	d := newDesktop(t)
	startProgram(d)
	d.clickText(mainWindow, "Start now")
	d.waitText(mainWindow, "Message Fairlead")
	for n := range 8 {
		w := d.waitWindow(mainWindow)
		var args []string
		for i := range 1 + n%2*5 {
			args = append(args, "windowsize", w.id, strconv.Itoa(900+n%4*100+i*5), strconv.Itoa(740-n%4*20-i*5),
				"sleep", fmt.Sprintf("%.3f", 0.004*float64(n)))
		}
		d.run("xdotool", args...)
		d.waitFor(fmt.Sprintf("a whole picture after %v", args), func() bool { return d.isFullyDrawn(d.waitWindow(mainWindow)) })
		time.Sleep(1300 * time.Millisecond) // the program rests
		if w := d.waitWindow(mainWindow); !d.isFullyDrawn(w) {
			t.Errorf("the picture of %v after %v is not whole", w, args)
		}
	}
	schedule := d.waitTextIn(mainWindow, "Schedule", sidebar)
	d.moveWindow(mainWindow, 40, 60, 1100, 640)
	d.click(schedule)
	d.waitTextIn(mainWindow, "Nothing is scheduled", content)
}

// isFullyDrawn reports whether the main window's sidebar has its full height, and its header its
// full width.
func (d *desktop) isFullyDrawn(w window) bool {
	d.t.Helper()
	pic := d.capture(w)
	sidebar, header := pic.RGBAAt(w.x+100, w.y+w.h/2), pic.RGBAAt(w.x+250, w.y+2)
	for x := 250; x < w.w-1; x++ {
		if pic.RGBAAt(w.x+x, w.y+2) != header {
			return false
		}
	}
	return header != sidebar && pic.RGBAAt(w.x+3, w.y+3) == sidebar && pic.RGBAAt(w.x+3, w.y+w.h-4) == sidebar
}

// showsWindow reports whether a window covers the screen's middle.
func (e *screenReader) showsWindow() bool {
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
