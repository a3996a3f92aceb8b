package chat

import (
	"fyne.io/fyne/v2"

	"fairlead/app/conversation"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// parts are the sizes of what is around the messages, or replaces them, as the layout needs them.
type parts struct {
	header, composer, bar fyne.Size
	content               conversation.Parts
}

// parts returns the present sizes. A part that is hidden has none.
func (p *Pane) parts() parts {
	p.header.fit(p.Size().Width)
	x := parts{header: p.header.box.MinSize(), composer: p.composer.box.MinSize(), content: p.view.Parts()}
	if p.view.Bar.Visible() {
		x.bar = p.view.Bar.MinSize()
	}
	return x
}

// relayout repeats the layout after the composer or the header changed in size.
func (p *Pane) relayout() {
	if s := p.Size(); s.Width > 0 {
		paneLayout{p}.Layout(nil, s)
		p.laidOut = p.parts()
	}
}

// cover hides what extends out of the content behind the header and the composer. Their backgrounds
// are drawn only then, because large areas dominate the drawing time without a graphics processor.
func (l paneLayout) cover() {
	p := l.p
	above, below := p.view.Overflow()
	widgets.SetVisible(p.headerBackground, above)
	widgets.SetVisible(p.composerBackground, below)
}

type paneLayout struct{ p *Pane }

func (paneLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(300, 240) }

// Layout implements fyne.Layout.
func (l paneLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	p := l.p
	width, margin := conversation.Column(size.Width)
	p.header.fit(size.Width)
	head := p.header.box.MinSize().Height
	p.header.box.Resize(fyne.NewSize(size.Width, head))
	p.header.box.Move(fyne.NewPos(0, 0))
	widgets.Relayout(p.header.box)

	top := head + 1
	if f := p.view.Bar; f.Visible() {
		h := f.MinSize().Height
		f.Move(fyne.NewPos(0, top))
		f.Resize(fyne.NewSize(size.Width, h))
		widgets.Relayout(f)
		top += h
	}
	x := float32(int((size.Width - width) / 2))
	p.composer.files.isLow = size.Height < lowPaneHeight*style.Size("text")/14
	c := p.composer.box
	c.Resize(fyne.NewSize(width, c.MinSize().Height))
	widgets.Relayout(c)
	h := c.MinSize().Height
	c.Resize(fyne.NewSize(width, h))
	c.Move(fyne.NewPos(x, size.Height-h-margin/2))

	// The transcript extends to the window's edge, for its scroll bar; its rows have margins.
	p.view.LayOut(fyne.NewPos(0, top), fyne.NewSize(size.Width, max(size.Height-top-h-margin-style.Inside-p.reserved, 0)), width)
	p.headerLine.Move(fyne.NewPos(0, head))
	p.headerLine.Resize(fyne.NewSize(size.Width, 1))
	p.headerBackground.Resize(fyne.NewSize(size.Width, top))
	p.composerBackground.Move(fyne.NewPos(0, size.Height-h-margin))
	p.composerBackground.Resize(fyne.NewSize(size.Width, h+margin))
	p.composer.hint.layOut(x, size.Height-h-margin/2, width)
	p.composer.entry.completion.layOut(x, size.Height-h-margin/2, width)
}
