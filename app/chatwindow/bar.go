package chatwindow

import (
	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/widgets"
)

// Bars make the bars at the top of windows that control another computer, in its colour.
type Bars struct {
	Name string // of the remote gateway; empty for that of this computer, whose windows have no bar
	Env  host.Env
}

// BarHeight is the height of a bar.
const BarHeight = 4

// New returns a bar; nil for this computer.
func (b Bars) New() *widgets.Rect {
	if b.Name == "" {
		return nil
	}
	id := b.Name
	if local, ok := b.Env.Feed.Machines.Get().Local(); ok {
		id = string(local.ID)
	}
	bar := widgets.NewRect(b.Env.Machines.Color(id), "", 0)
	bar.SetMinSize(fyne.NewSize(0, BarHeight))
	return bar
}

// BelowBar returns a window's content below its bar, which may be nil.
func BelowBar(bar *widgets.Rect, content fyne.CanvasObject) fyne.CanvasObject {
	if bar == nil {
		return content
	}
	return widgets.Border(bar, nil, nil, nil, content)
}

// ColorBars shows the colour of the computer that the windows control, after it has changed.
func (cw *Windows) ColorBars() {
	local, ok := cw.o.Feed.Machines.Get().Local()
	if !ok {
		return
	}
	color := cw.o.Env(nil).Machines.Color(string(local.ID))
	for _, c := range cw.frames() {
		if c.Bar != nil {
			c.Bar.Set(color, "")
		}
	}
}
