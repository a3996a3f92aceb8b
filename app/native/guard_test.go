package native

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-gl/glfw/v3.4/glfw"
)

func TestPanicFailsOnlyItsEvent(t *testing.T) {
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

func TestClicksAndDropsHappenWhereThePointerIs(t *testing.T) {
	var got []string
	var move glfw.CursorPosCallback = func(*glfw.Window, float64, float64) {}
	var press glfw.MouseButtonCallback = func(_ *glfw.Window, _ glfw.MouseButton, a glfw.Action, _ glfw.ModifierKey) {
		got = append(got, fmt.Sprint("button ", a))
	}
	var drop glfw.DropCallback = func(_ *glfw.Window, names []string) { got = append(got, fmt.Sprint("drop ", names)) }
	movePointerFirst(func(f glfw.CursorPosCallback) (before glfw.CursorPosCallback) {
		before, move = move, f
		return before
	}, func(f glfw.MouseButtonCallback) (before glfw.MouseButtonCallback) {
		before, press = press, f
		return before
	}, func(f glfw.DropCallback) (before glfw.DropCallback) {
		before, drop = drop, f
		return before
	}, func(x, y float64) { got = append(got, fmt.Sprint("pointer at ", x, " ", y)) })
	move(nil, 5, 6)
	move(nil, 7, 8)
	press(nil, 0, glfw.Press, 0)
	press(nil, 0, glfw.Release, 0)
	move(nil, 1, 2)
	drop(nil, []string{"a"})
	if want := []string{"pointer at 7 8", "button 1", "button 0", "pointer at 1 2", "drop [a]"}; !slices.Equal(got, want) {
		t.Errorf("a movement together with a click or a drop: got %q, want %q", got, want)
	}
}

func TestHoverEndsWhenThePointerLeaves(t *testing.T) {
	var got []string
	var move glfw.CursorPosCallback = func(_ *glfw.Window, x, y float64) { got = append(got, fmt.Sprint(x, " ", y)) }
	var enter glfw.CursorEnterCallback = func(_ *glfw.Window, entered bool) { got = append(got, fmt.Sprint("entered ", entered)) }
	isDragging := false
	endHover(func(f glfw.CursorEnterCallback) (before glfw.CursorEnterCallback) {
		before, enter = enter, f
		return before
	}, func(f glfw.CursorPosCallback) (before glfw.CursorPosCallback) {
		before, move = move, f
		return before
	}, func() bool { return isDragging })
	enter(nil, true)
	move(nil, 5, 6)
	enter(nil, false)
	isDragging = true // what is dragged stays where it is
	enter(nil, false)
	if want := []string{"entered true", "5 6", "-1 -1", "entered false", "entered false"}; !slices.Equal(got, want) {
		t.Errorf("got the movements and crossings %q, want %q", got, want)
	}
}
