package native

import (
	"slices"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
)

// Fyne gives a scroll event to the innermost object that can receive one, and does not tell which
// objects are around it (fyne 2.8.0, internal/driver/util.go).
//
//go:linkname walkVisible fyne.io/fyne/v2/internal/driver.WalkVisibleObjectTree
func walkVisible(
	root fyne.CanvasObject,
	before func(o fyne.CanvasObject, at, clipAt fyne.Position, clip fyne.Size) bool,
	after func(o fyne.CanvasObject, at fyne.Position, parent fyne.CanvasObject),
) bool

// ScrollablesAt returns the objects at a position of a canvas that receive scroll events, the
// innermost first. Call it on the GUI thread.
func ScrollablesAt(c fyne.Canvas, at fyne.Position) (found []fyne.Scrollable) {
	root := c.Content()
	if top := c.Overlays().Top(); top != nil {
		root = top
	}
	var path []fyne.Scrollable // to the object that is visited
	walkVisible(root, func(o fyne.CanvasObject, pos, clipAt fyne.Position, clip fyne.Size) bool {
		if s, ok := o.(fyne.Scrollable); ok {
			path = append(path, s)
			if contains(pos, o.Size(), at) && contains(clipAt, clip, at) {
				found = slices.Clone(path)
			}
		}
		return false
	}, func(o fyne.CanvasObject, _ fyne.Position, _ fyne.CanvasObject) {
		if _, ok := o.(fyne.Scrollable); ok {
			path = path[:len(path)-1]
		}
	})
	slices.Reverse(found)
	return found
}

// PositionIn returns the position of a visible object in the parent of root, an object around it.
// In contrast to Fyne's driver it also finds objects that no frame has shown yet. Call it on the
// GUI thread.
func PositionIn(root, object fyne.CanvasObject) (position fyne.Position, found bool) {
	walkVisible(root, func(o fyne.CanvasObject, at, _ fyne.Position, _ fyne.Size) bool {
		if found = o == object; found {
			position = at
		}
		return found
	}, nil)
	return position, found
}

func contains(pos fyne.Position, size fyne.Size, at fyne.Position) bool {
	return at.X >= pos.X && at.Y >= pos.Y && at.X < pos.X+size.Width && at.Y < pos.Y+size.Height
}
