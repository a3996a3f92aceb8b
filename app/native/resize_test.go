package native

import (
	"testing"

	"github.com/go-gl/glfw/v3.4/glfw"
)

// loop is the toolkit's loop with one window.
type loop struct {
	isDirty bool
	frames  int
	queue   []func()
	resized glfw.SizeCallback
}

func (l *loop) CheckDirtyAndClear() bool {
	was := l.isDirty
	l.isDirty = false
	return was
}
func (l *loop) SetDirty() { l.isDirty = true }
func (l *loop) paint()    { l.frames++ }

func (l *loop) setResized(f glfw.SizeCallback) (before glfw.SizeCallback) {
	before, l.resized = l.resized, f
	return before
}

// turn does what is queued, and then draws a dirty window, or the other way round.
func (l *loop) turn(drawsFirst bool) {
	draw := func() {
		if l.CheckDirtyAndClear() {
			l.paint()
		}
	}
	if drawsFirst {
		draw()
	}
	for ; len(l.queue) > 0; l.queue = l.queue[1:] {
		l.queue[0]()
	}
	draw()
}

func TestResizedWindowIsDrawnTwice(t *testing.T) {
	for _, drawsFirst := range []bool{true, false} {
		l := &loop{}
		l.resized = func(*glfw.Window, int, int) { l.SetDirty() }
		drawTwice(l.setResized, l, func(f func()) { l.queue = append(l.queue, f) }, l.paint)
		for range 2 {
			l.frames = 0
			l.resized(nil, 1, 1)
			l.resized(nil, 2, 2)
			l.turn(drawsFirst)
			if l.frames != 2 {
				t.Errorf("after two sizes at once, drawn first: %v: got %d frames, want 2", drawsFirst, l.frames)
			}
			l.turn(drawsFirst)
			if l.frames != 2 {
				t.Errorf("a window that did not change: got %d more frames, want none", l.frames-2)
			}
		}
	}
}
