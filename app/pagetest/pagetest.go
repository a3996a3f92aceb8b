// Package pagetest tests pages without a gateway: a test sets the page's state, presses its buttons
// and reads its texts. Only tests import it. It sets the time zone to UTC, so that pages look the
// same everywhere.
package pagetest

import (
	"context"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
)

func init() { time.Local = time.UTC }

// Noon is the time in tests of pages.
var Noon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// Clock is a page's clock that always returns Noon.
func Clock() time.Time { return Noon }

// Program is what a page gets of the program.
type Program struct {
	*feed.Feed
	Chats  *chats.Chats
	Drafts *unsaved.Store
}

// Start starts the test toolkit and returns a program without a gateway; both stop with the test.
func Start(t testing.TB, mode style.Mode) (ctx context.Context, app *Program) {
	t.Helper()
	App(t).Settings().SetTheme(style.New(mode, 1))
	f := feed.New()
	app = &Program{f, chats.New(f), &unsaved.Store{}}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(app.Close)
	t.Cleanup(cancel)
	return ctx, app
}

// Window shows a page's content in a window of that size, which closes with the test. At the end of
// the test it checks the controls, see [Controls], and whether the largest text fits into the smallest
// window; see [Fits].
func Window(t testing.TB, content fyne.CanvasObject, width, height float32) fyne.Window {
	t.Helper()
	w := test.NewTempWindow(t, content)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(width, height))
	t.Cleanup(func() {
		Controls(t, w)
		Largest(w)
		Fits(t, w)
	})
	return w
}

// VisibleButton returns a visible button with a text, or one without a text by its icon; nil
// without one.
func VisibleButton(o fyne.CanvasObject, text string) *widgets.Button {
	var found *widgets.Button
	var visit func(o fyne.CanvasObject)
	visit = func(o fyne.CanvasObject) {
		if !o.Visible() {
			return
		}
		switch o := o.(type) {
		case *widgets.Button:
			if o.Text == text || o.Text == "" && o.Icon == text {
				found = o
			}
		case *fyne.Container:
			for _, c := range o.Objects {
				visit(c)
			}
		}
		if w, ok := o.(fyne.Widget); ok {
			for _, c := range test.WidgetRenderer(w).Objects() {
				visit(c)
			}
		}
	}
	visit(o)
	return found
}

// Button finds the last visible button with that text, and fails the test without one.
func Button(t *testing.T, o fyne.CanvasObject, text string) *widgets.Button {
	t.Helper()
	found := widgettest.Find(o, func(b *widgets.Button) bool { return b.Text == text })
	if found == nil {
		t.Fatalf("no button %q in %s", text, test.RenderObjectToMarkup(o))
	}
	return found
}

// Shows checks that all texts are visible.
func Shows(t *testing.T, o fyne.CanvasObject, want ...string) {
	t.Helper()
	markup := test.RenderObjectToMarkup(o) + golden.Words(o)
	for _, text := range want {
		if !strings.Contains(markup, text) {
			t.Errorf("%q is not shown", text)
		}
	}
}

// Fits checks that no line of text is wider than its place, and that no text and no control leaves the
// window. Text that is shortened with an ellipsis fits.
func Fits(t testing.TB, w fyne.Window) {
	t.Helper()
	width := w.Canvas().Size().Width
	widgettest.Visit(w.Content(), func(o fyne.CanvasObject) {
		x := fyne.CurrentApp().Driver().AbsolutePositionForObject(o).X
		switch o := o.(type) {
		case *widgets.Text:
			if o.Size().Width+0.5 < o.MinSize().Width || x+o.Size().Width > width+0.5 {
				t.Errorf("%q has %v from %v, needs %v, and the window is %v wide", o.Text, o.Size().Width, x, o.MinSize().Width, width)
			}
		case *widgets.Paragraph:
			if x+o.Size().Width > width+0.5 {
				t.Errorf("%q ends at %v, and the window is %v wide", o.Text(), x+o.Size().Width, width)
			}
		case *widgets.Button:
			if x+o.Size().Width > width+0.5 {
				t.Errorf("the button %q ends at %v, and the window is %v wide", o.AccessibilityLabel(), x+o.Size().Width, width)
			}
		case fyne.Focusable:
			if x+o.(fyne.CanvasObject).Size().Width > width+1+theme.InnerPadding() { // around a text
				t.Errorf("%T ends at %v, and the window is %v wide", o, x+o.(fyne.CanvasObject).Size().Width, width)
			}
		}
	})
}

// Largest shows a window with the largest text, in the smallest size.
func Largest(w fyne.Window) {
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, style.TextLargest))
	w.Resize(fyne.NewSize(480, 560))
}

// Shot writes a picture of the window to $FAIRLEAD_SHOTS/NAME.png, if that is set, for review.
func Shot(t *testing.T, w fyne.Window, name string) {
	t.Helper()
	dir := os.Getenv("FAIRLEAD_SHOTS")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// The toolkit's painter of tests needs a colour.
	for _, o := range append(w.Canvas().Overlays().List(), w.Content()) {
		widgettest.Visit(o, func(o fyne.CanvasObject) {
			if r, ok := o.(*canvas.Rectangle); ok && r.FillColor == nil {
				r.FillColor = color.Transparent
			}
		})
	}
	if err := png.Encode(f, w.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}

// toolkit is the test toolkit with the test's goroutine as GUI thread: calls of other goroutines
// wait for it. The original driver would run them concurrently with the test.
type toolkit struct {
	fyne.App
	thread *thread
}

// Driver implements fyne.App.
func (k *toolkit) Driver() fyne.Driver { return k.thread }

type thread struct {
	fyne.Driver
	mu     sync.Mutex // guards the fields below
	queue  []task
	closed bool
}

type task struct {
	do   func()
	done chan struct{}
}

// DoFromGoroutine implements fyne.Driver.
func (g *thread) DoFromGoroutine(f func(), wait bool) {
	t := task{f, make(chan struct{})}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	g.queue = append(g.queue, t)
	g.mu.Unlock()
	if wait {
		<-t.done
	}
}

// run runs the waiting calls, and reports whether there were any.
func (g *thread) run() bool {
	g.mu.Lock()
	queue := g.queue
	g.queue = nil
	g.mu.Unlock()
	for _, t := range queue {
		t.do()
		close(t.done)
	}
	return len(queue) > 0
}

// end drops all waiting and future calls.
func (g *thread) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, t := range g.queue {
		close(t.done)
	}
	g.queue = nil
}

// App starts a toolkit that stops with the test. Calls of other goroutines wait for [Settle].
func App(t testing.TB) fyne.App {
	t.Helper()
	a := test.NewTempApp(t)
	k := &toolkit{App: a, thread: &thread{Driver: a.Driver()}}
	fyne.SetCurrentApp(k)
	t.Cleanup(k.thread.end)
	return k
}

// Settle runs, in a bubble of synctest, the calls of other goroutines until all of them wait. It also
// waits for the calls that [bind] gathers.
func Settle() {
	for idle := 0; idle < 2; idle++ {
		time.Sleep(gatherTime)
		synctest.Wait()
		if fyne.CurrentApp().(*toolkit).thread.run() {
			idle = -1
		}
	}
}

// gatherTime is longer than the time for which bind gathers calls.
const gatherTime = 10 * time.Millisecond

// WheelReachesPage checks the number of panels, and that they pass scroll events to the page.
func WheelReachesPage(t *testing.T, o fyne.CanvasObject, panels int) {
	t.Helper()
	page := Scroll(t, o)
	var found []*widgets.Scroller
	widgettest.Visit(o, func(o fyne.CanvasObject) {
		if p, ok := o.(*widgets.Scroller); ok {
			found = append(found, p)
		}
	})
	if len(found) != panels {
		t.Fatalf("%d panels, not %d", len(found), panels)
	}
	for i, p := range found {
		page.ScrollToTop()
		p.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -40)})
		if page.Offset.Y == 0 {
			t.Errorf("panel %d holds the wheel", i)
		}
	}
}

// Scroll finds the first scrolling part, and fails the test without one.
func Scroll(t *testing.T, o fyne.CanvasObject) *container.Scroll {
	t.Helper()
	var found *container.Scroll
	widgettest.Visit(o, func(o fyne.CanvasObject) {
		if s, ok := o.(*container.Scroll); ok && found == nil {
			found = s
		}
	})
	if found == nil {
		t.Fatal("nothing scrolls")
	}
	return found
}
