package chat

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// columnWidth is the maximum width of the transcript's rows: 76 letters of text and the margins,
// with room for code.
const columnWidth = 720

// shortHeader is the width below which the header shows only the chat's name; the other controls
// move to its menu.
const shortHeader = 640

// relayout repeats the layout after the composer or the header changed in size.
func (p *Pane) relayout() {
	if s := p.Size(); s.Width > 0 {
		p.place(s)
	}
}

func (p *Pane) place(size fyne.Size) {
	narrow := size.Width < style.Narrow-200
	if short := size.Width < shortHeader*style.Size("text")/14; short != p.header.narrow {
		p.header.narrow = short
		p.header.show(p.state)
	}
	margin := style.Page
	if narrow {
		margin = 12
	}
	if p.reader {
		p.transcript.Width = min(size.Width-2*margin, columnWidth*style.Size("text")/14)
		p.middle.Resize(size)
		p.middle.Layout.Layout(p.middle.Objects, size)
		return
	}
	head := p.header.box.MinSize().Height
	p.header.box.Resize(fyne.NewSize(size.Width, head))
	p.header.box.Move(fyne.NewPos(0, 0))
	relayout(p.header.box)

	top := head + 1
	if f := p.find.box; f.Visible() {
		h := f.MinSize().Height
		f.Move(fyne.NewPos(0, top))
		f.Resize(fyne.NewSize(size.Width, h))
		relayout(f)
		top += h
	}
	width := min(size.Width-2*margin, columnWidth*style.Size("text")/14)
	x := float32(int((size.Width - width) / 2))
	c := p.composer.box
	c.Resize(fyne.NewSize(width, c.MinSize().Height))
	relayout(c)
	h := c.MinSize().Height
	c.Resize(fyne.NewSize(width, h))
	c.Move(fyne.NewPos(x, size.Height-h-margin/2))

	// The transcript extends to the window's edge, for its scroll bar; its rows have margins.
	p.transcript.Width = width
	p.middle.Move(fyne.NewPos(0, top))
	p.middle.Resize(fyne.NewSize(size.Width, max(size.Height-top-h-margin, 0)))
	p.middle.Layout.Layout(p.middle.Objects, p.middle.Size()) // its content may have a new height
	p.line.Move(fyne.NewPos(0, head))
	p.line.Resize(fyne.NewSize(size.Width, 1))
	p.top.Resize(fyne.NewSize(size.Width, top))
	p.bottom.Move(fyne.NewPos(0, size.Height-h-margin))
	p.bottom.Resize(fyne.NewSize(size.Width, h+margin))
}

// middleLayout gives all space to the transcript, and centres an object that replaces it.
type middleLayout struct{}

func (middleLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(120, 80) }

func (middleLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for i, o := range objects {
		if i == 0 {
			o.Resize(size)
			continue
		}
		width := min(size.Width-2*style.Page, 620)
		h := widgets.Fit(o, width)
		o.Move(fyne.NewPos(float32(int((size.Width-width)/2)), float32(int(max(size.Height-h, 0)/2))))
	}
}

func relayout(o fyne.CanvasObject) {
	if box, ok := o.(*fyne.Container); ok && box.Layout != nil {
		box.Layout.Layout(box.Objects, box.Size())
		for _, c := range box.Objects {
			relayout(c)
		}
	}
}

// CreateRenderer implements fyne.Widget.
func (p *Pane) CreateRenderer() fyne.WidgetRenderer { return &paneRenderer{p} }

type paneRenderer struct{ p *Pane }

func (r *paneRenderer) MinSize() fyne.Size { return fyne.NewSize(300, 240) }

func (r *paneRenderer) Layout(size fyne.Size) { r.p.place(size) }

func (r *paneRenderer) Destroy() {}

func (r *paneRenderer) Refresh() {
	for _, o := range r.Objects() {
		o.Refresh()
	}
	r.p.place(r.p.Size())
}

// Objects includes backgrounds for the header and the composer above the transcript: Fyne's
// software painter does not clip content that scrolls within a row.
func (r *paneRenderer) Objects() []fyne.CanvasObject {
	p := r.p
	return []fyne.CanvasObject{p.middle, p.top, p.bottom, p.header.box, p.line, p.find.box, p.composer.box}
}
