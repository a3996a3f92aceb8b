package native

import (
	"slices"
	"testing"

	"github.com/go-gl/glfw/v3.4/glfw"
)

func TestDragPositionsFollowThePointer(t *testing.T) {
	ends := 0
	d := &fileDrag{ended: func() { ends++ }}
	held := glfw.Release
	var got []bool
	move := func() { got = append(got, d.isDrag(func(glfw.MouseButton) glfw.Action { return held })) }

	d.cross(true)
	move() // the pointer
	held = glfw.Press
	d.cross(false)
	move() // the pointer, outside, with a button that was pressed in the window
	held = glfw.Release
	move() // a drag of another program
	move()
	d.cross(true) // the drag was given up
	move()        // the pointer
	d.cross(false)
	move() // another drag
	d.end()
	d.end() // dropped once
	if want := []bool{false, false, true, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("drags: got %v, want %v", got, want)
	}
	if ends != 2 {
		t.Errorf("ends of drags: got %d, want 2", ends)
	}
}
