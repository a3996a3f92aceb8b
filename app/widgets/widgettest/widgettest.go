// Package widgettest shows single widgets in tests.
package widgettest

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
)

// Window shows an object in the light theme, in a window of a size in points.
func Window(t testing.TB, o fyne.CanvasObject, width, height float32) fyne.Window {
	t.Helper()
	test.NewTempApp(t)
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, 1))
	w := test.NewTempWindow(t, o)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(width, height))
	return w
}

// Visit visits an object and all visible objects in it.
func Visit(o fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	if !o.Visible() {
		return
	}
	visit(o)
	for _, c := range Children(o) {
		Visit(c, visit)
	}
}

// Children returns the objects that an object consists of.
func Children(o fyne.CanvasObject) []fyne.CanvasObject {
	switch o := o.(type) {
	case *fyne.Container:
		return o.Objects
	case fyne.Widget:
		return test.WidgetRenderer(o).Objects()
	}
	return nil
}

// Find returns the last visible object of a type for which match returns true, or nil.
func Find[T fyne.CanvasObject](o fyne.CanvasObject, match func(T) bool) (found T) {
	Visit(o, func(c fyne.CanvasObject) {
		if v, ok := c.(T); ok && match(v) {
			found = v
		}
	})
	return found
}

// All returns the visible objects of a type in an object, in the order of their drawing.
func All[T any](o fyne.CanvasObject) (all []T) {
	Visit(o, func(c fyne.CanvasObject) {
		if v, ok := c.(T); ok {
			all = append(all, v)
		}
	})
	return all
}
