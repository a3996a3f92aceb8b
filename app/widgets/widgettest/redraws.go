package widgettest

import (
	"testing"

	"fyne.io/fyne/v2"
)

// CountRedraws counts how often objects ask for a frame, until the test ends. The toolkit draws all of
// a window in each frame. Call it after the application and its windows were created.
func CountRedraws(t testing.TB) *int {
	t.Helper()
	a, n := fyne.CurrentApp(), new(int)
	fyne.SetCurrentApp(countedApp{a, countedDriver{a.Driver(), n}})
	t.Cleanup(func() { fyne.SetCurrentApp(a) })
	return n
}

type countedApp struct {
	fyne.App
	driver fyne.Driver
}

func (a countedApp) Driver() fyne.Driver { return a.driver }

type countedDriver struct {
	fyne.Driver
	n *int
}

func (d countedDriver) CanvasForObject(o fyne.CanvasObject) fyne.Canvas {
	return countedCanvas{d.Driver.CanvasForObject(o), d.n}
}

type countedCanvas struct {
	fyne.Canvas
	n *int
}

// Refresh implements fyne.Canvas.
func (c countedCanvas) Refresh(o fyne.CanvasObject) {
	*c.n++
	c.Canvas.Refresh(o)
}

// SetDirty is called by objects that move or are hidden.
func (c countedCanvas) SetDirty() { *c.n++ }
