package chat

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
)

// parts are the sizes of what is around the transcript, or replaces it, as the layout needs them.
type parts struct {
	header, composer, finder, problem fyne.Size
	empty, loading                    bool
}

// parts returns the present sizes. A part that is hidden has none.
func (l paneLayout) parts() parts {
	p := l.p
	p.header.fit(p.Size().Width)
	need := func(o fyne.CanvasObject) fyne.Size {
		if !o.Visible() {
			return fyne.Size{}
		}
		return o.MinSize()
	}
	return parts{
		header: need(p.header.box), composer: need(p.composer.box), finder: need(p.finder.box), problem: need(p.problemBox),
		empty: p.empty.Visible(), loading: p.loadingText.Visible(),
	}
}

// columnWidth is the maximum width of the transcript's rows, of text and cards alike: about 95
// letters of text, and 80 of code.
const columnWidth = 640

// relayout repeats the layout after the composer or the header changed in size.
func (p *Pane) relayout() {
	if s := p.Size(); s.Width > 0 {
		paneLayout{p}.Layout(nil, s)
		p.laidOut = paneLayout{p}.parts()
	}
}

// covers are the backgrounds of the header and the composer, which hide what extends out of the
// content behind them. They are drawn only then, because large areas dominate the drawing time without
// a graphics processor.
type covers struct {
	list             *transcript.View
	header, composer *widgets.Background
	isUnused         bool // the pane has neither header nor composer
}

func newCovers(list *transcript.View) *covers {
	return &covers{list: list, header: widgets.NewBackground("background", "", 0), composer: widgets.NewBackground("background", "", 0)}
}

func (c *covers) show() {
	above, below := c.list.Overflow()
	widgets.SetVisible(c.header, above && !c.isUnused)
	widgets.SetVisible(c.composer, (below || !c.list.Visible()) && !c.isUnused)
}

// contentLayout gives all space to the transcript, and centres an object that replaces it.
type contentLayout struct{}

func (contentLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(120, 80) }

func (contentLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
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

type paneLayout struct{ p *Pane }

func (paneLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(300, 240) }

// Layout implements fyne.Layout.
func (l paneLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	p := l.p
	narrow := size.Width < style.Narrow-200
	margin := widgets.Choose(narrow, 12, style.Page)
	if p.chat.readOnly {
		p.transcript.Width = min(size.Width-2*margin, columnWidth*style.Size("text")/14)
		p.content.Resize(size)
		p.content.Layout.Layout(p.content.Objects, size)
		return
	}
	p.header.fit(size.Width)
	head := p.header.box.MinSize().Height
	p.header.box.Resize(fyne.NewSize(size.Width, head))
	p.header.box.Move(fyne.NewPos(0, 0))
	widgets.Relayout(p.header.box)

	top := head + 1
	if f := p.finder.box; f.Visible() {
		h := f.MinSize().Height
		f.Move(fyne.NewPos(0, top))
		f.Resize(fyne.NewSize(size.Width, h))
		widgets.Relayout(f)
		top += h
	}
	width := min(size.Width-2*margin, columnWidth*style.Size("text")/14)
	x := float32(int((size.Width - width) / 2))
	p.composer.files.isLow = size.Height < lowPaneHeight*style.Size("text")/14
	c := p.composer.box
	c.Resize(fyne.NewSize(width, c.MinSize().Height))
	widgets.Relayout(c)
	h := c.MinSize().Height
	c.Resize(fyne.NewSize(width, h))
	c.Move(fyne.NewPos(x, size.Height-h-margin/2))

	// The transcript extends to the window's edge, for its scroll bar; its rows have margins.
	p.transcript.Width = width
	p.content.Move(fyne.NewPos(0, top))
	p.content.Resize(fyne.NewSize(size.Width, max(size.Height-top-h-margin-style.Inside-p.reserved, 0)))
	p.content.Layout.Layout(p.content.Objects, p.content.Size()) // its content may have a new height
	p.headerLine.Move(fyne.NewPos(0, head))
	p.headerLine.Resize(fyne.NewSize(size.Width, 1))
	p.covers.header.Resize(fyne.NewSize(size.Width, top))
	p.covers.composer.Move(fyne.NewPos(0, size.Height-h-margin))
	p.covers.composer.Resize(fyne.NewSize(size.Width, h+margin))
	p.composer.hint.layOut(x, size.Height-h-margin/2, width)
	p.composer.entry.completion.layOut(x, size.Height-h-margin/2, width)
}
