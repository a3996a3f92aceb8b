package sidebar

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// sectionsLayout puts the machines below the chats and keeps both in view: when they do not fit,
// each scrolls by itself. It measures their contents.
type sectionsLayout struct {
	chats    *widgets.RowList
	machines fyne.CanvasObject
}

// maxMachinesShare is the machines' maximum share of the height when not everything fits.
const maxMachinesShare = 0.45

func (sectionsLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l sectionsLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	chats, machines := l.chats.Height(), l.machines.MinSize().Height
	if chats+machines > size.Height {
		machines = min(machines, max(float32(int(maxMachinesShare*size.Height)), size.Height-chats))
		chats = size.Height - machines
	}
	o[0].Resize(fyne.NewSize(size.Width, max(chats, 0)))
	o[1].Move(fyne.NewPos(0, max(chats, 0)))
	o[1].Resize(fyne.NewSize(size.Width, machines))
}

// linksLayout arranges the links in two columns; the right one is wider, for the number of transfers.
type linksLayout struct{}

const rightExtra float32 = 8

func (linksLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	height := float32(0)
	for i := 0; i < len(o); i += 2 {
		height += o[i].MinSize().Height + style.Gap
	}
	return fyne.NewSize(0, max(height-style.Gap, 0))
}

func (linksLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left := size.Width/2 - rightExtra
	y := float32(0)
	for i, row := range o {
		height := row.MinSize().Height
		if i%2 == 0 {
			row.Move(fyne.NewPos(0, y))
			row.Resize(fyne.NewSize(left, height))
			continue
		}
		row.Move(fyne.NewPos(left, y))
		row.Resize(fyne.NewSize(size.Width-left, height))
		y += height + style.Gap
	}
}
