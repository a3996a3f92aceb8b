package settings

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// pageLayout lays out the list, a line, and the page beside the list or in its place.
type pageLayout struct {
	p         *Page
	isLaidOut bool
}

// listWidth is the width of the list; it grows with the text size.
func listWidth() float32 { return min(256*style.Size("text")/14, 320) }

// twoPanesWidth is the smallest width for a list and a page beside it.
func twoPanesWidth() float32 { return listWidth() + 420*style.Size("text")/14 }

func (*pageLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(320, 320) }

func (l *pageLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	p, side, line, content := l.p, o[0], o[1], o[2]
	if narrow := size.Width < twoPanesWidth(); narrow != p.narrow || !l.isLaidOut {
		p.narrow = narrow
		p.inPlace = p.inPlace || l.isLaidOut // what was at the right of the list stays in view
		l.isLaidOut = true
		p.reportShown()
	}
	widgets.SetVisible(side, !p.narrow || !p.inPlace)
	widgets.SetVisible(line, !p.narrow)
	widgets.SetVisible(content, !p.narrow || p.inPlace)
	left := float32(0)
	if !p.narrow {
		left = listWidth()
		line.Resize(fyne.NewSize(1, size.Height))
		line.Move(fyne.NewPos(left-1, 0))
	}
	side.Resize(fyne.NewSize(widgets.Choose(p.narrow, size.Width, left-1), size.Height))
	content.Resize(fyne.NewSize(size.Width-left, size.Height))
	content.Move(fyne.NewPos(left, 0))
}
