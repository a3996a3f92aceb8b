package native

import (
	"testing"

	"github.com/go-gl/glfw/v3.4/glfw"
)

func TestPanicIsTheFailureOfItsEvent(t *testing.T) {
	calls := 0
	var drop glfw.DropCallback = func(_ *glfw.Window, names []string) {
		if calls++; len(names) == 0 {
			panic("broken")
		}
	}
	var move glfw.CursorPosCallback = func(_ *glfw.Window, x, y float64) { drop(nil, nil) }
	guard1(func(f glfw.DropCallback) (before glfw.DropCallback) {
		before, drop = drop, f
		return before
	})
	guard2(func(f glfw.CursorPosCallback) (before glfw.CursorPosCallback) {
		before, move = move, f
		return before
	})
	drop(nil, nil)
	move(nil, 1, 2)
	drop(nil, []string{"a"})
	if calls != 3 {
		t.Errorf("after panics: got %d calls, want 3", calls)
	}
	var none glfw.CharCallback
	guard1(func(f glfw.CharCallback) (before glfw.CharCallback) {
		before, none = none, f
		return before
	})
	if none != nil {
		t.Error("a window without a handler has one")
	}
}
