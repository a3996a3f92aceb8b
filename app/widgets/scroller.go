package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// Scroller scrolls content that is larger than its area: horizontally, and vertically if MaxHeight
// is set. It passes unused scroll events to Forward, so that a panel in a transcript does not block
// scrolling the transcript. (Fyne's own scroller consumes every event, and turns vertical scrolling
// into horizontal.)
type Scroller struct {
	widget.BaseWidget
	MaxHeight float32 // 0 is the content's height
	Forward   func(*fyne.ScrollEvent)
	// Follow keeps the end in view if it is in view.
	Follow bool

	Content fyne.CanvasObject
	clip    *container.Clip // the area without the scroll bars
	offset  fyne.Position
	isAtEnd bool
	hbar    *ScrollBar
	vbar    *ScrollBar
}

// partialView is content that draws only its visible part.
type partialView interface {
	// WrapTo sets the width at which lines wrap, if they wrap at all.
	WrapTo(width float32)
	// SetView sets the visible part.
	SetView(at fyne.Position, size fyne.Size)
}

// NewScroller creates one.
func NewScroller(content fyne.CanvasObject) *Scroller {
	p := &Scroller{Content: content, isAtEnd: true, clip: container.NewClip(container.NewWithoutLayout(content))}
	p.clip.ExtendBaseWidget(p.clip)
	p.hbar = NewScrollBar(false, func(to float32) { p.MoveTo(fyne.NewPos(to, p.offset.Y)) })
	p.vbar = NewScrollBar(true, func(to float32) { p.MoveTo(fyne.NewPos(p.offset.X, to)) })
	p.ExtendBaseWidget(p)
	return p
}

// Reset scrolls to the beginning, or with Follow to the end; for new content.
func (p *Scroller) Reset() {
	p.offset, p.isAtEnd = fyne.Position{}, true
	p.Update()
}

// Update must be called when the content's size changed.
func (p *Scroller) Update() {
	if s := p.Size(); s.Width > 0 {
		p.layOut(s)
	}
}

// Scrolled implements fyne.Scrollable.
func (p *Scroller) Scrolled(e *fyne.ScrollEvent) {
	before := p.offset
	p.MoveTo(fyne.NewPos(p.offset.X-e.Scrolled.DX, p.offset.Y-e.Scrolled.DY))
	if p.Forward == nil {
		return
	}
	left := *e
	left.Scrolled.DX = 0
	left.Scrolled.DY -= before.Y - p.offset.Y
	if left.Scrolled.DY != 0 {
		p.Forward(&left)
	}
}

// CanScroll reports whether a scroll event would move the content.
func (p *Scroller) CanScroll(by fyne.Delta) bool {
	view := p.viewSize(p.Size())
	room := p.Content.MinSize().Max(view).Subtract(view)
	to := fyne.NewPos(min(max(p.offset.X-by.DX, 0), room.Width), min(max(p.offset.Y-by.DY, 0), room.Height))
	return to != p.offset
}

// MoveTo scrolls to an offset.
func (p *Scroller) MoveTo(to fyne.Position) {
	p.offset = to
	size := p.Size()
	view := p.viewSize(size)
	p.isAtEnd = p.offset.Y >= p.Content.MinSize().Height-view.Height-1
	p.layOut(size)
}

// MoveBy scrolls, and reports whether it could.
func (p *Scroller) MoveBy(d fyne.Delta) bool {
	before := p.offset
	p.MoveTo(fyne.NewPos(p.offset.X+d.DX, p.offset.Y+d.DY))
	return p.offset != before
}

// viewSize returns the area without the scroll bars.
func (p *Scroller) viewSize(size fyne.Size) fyne.Size {
	c, v := p.Content.MinSize(), size
	if c.Width > v.Width {
		v.Height -= ScrollBarWidth
	}
	if c.Height > v.Height+0.5 {
		v.Width -= ScrollBarWidth
	}
	if c.Width > v.Width && v.Height == size.Height {
		v.Height -= ScrollBarWidth
	}
	return fyne.NewSize(max(v.Width, 0), max(v.Height, 0))
}

func (p *Scroller) layOut(size fyne.Size) {
	content, partial := p.Content.(partialView)
	if partial {
		// even without a scroll bar, so that its appearance does not change the wrapping
		content.WrapTo(size.Width - ScrollBarWidth)
	}
	view := p.viewSize(size)
	full := p.Content.MinSize().Max(view)
	if p.Follow && p.isAtEnd {
		p.offset.Y = full.Height
	}
	p.offset.X = min(max(p.offset.X, 0), full.Width-view.Width)
	p.offset.Y = min(max(p.offset.Y, 0), full.Height-view.Height)
	if p.clip.Size() != view {
		p.clip.Resize(view)
	}
	if p.Content.Size() != full {
		p.Content.Resize(full)
	}
	p.Content.Move(fyne.NewPos(-p.offset.X, -p.offset.Y))
	if partial {
		content.SetView(p.offset, view)
	}
	p.hbar.Set(p.offset.X, view.Width, full.Width)
	p.vbar.Set(p.offset.Y, view.Height, full.Height)
	p.hbar.Move(fyne.NewPos(0, size.Height-ScrollBarWidth))
	p.hbar.Resize(fyne.NewSize(view.Width, ScrollBarWidth))
	p.vbar.Move(fyne.NewPos(size.Width-ScrollBarWidth, 0))
	p.vbar.Resize(fyne.NewSize(ScrollBarWidth, view.Height))
}

// CreateRenderer implements fyne.Widget.
func (p *Scroller) CreateRenderer() fyne.WidgetRenderer { return &panRenderer{p} }

type panRenderer struct{ p *Scroller }

func (r *panRenderer) MinSize() fyne.Size {
	m := r.p.Content.MinSize()
	h := m.Height
	if s := r.p.Size(); s.Width > 0 && m.Width > s.Width {
		h += ScrollBarWidth // space for the scroll bar
	}
	if r.p.MaxHeight > 0 {
		h = min(h, r.p.MaxHeight)
	}
	return fyne.NewSize(min(m.Width, 40), h)
}

func (r *panRenderer) Layout(size fyne.Size) { r.p.layOut(size) }
func (r *panRenderer) Refresh() {
	r.p.Content.Refresh()
	r.p.hbar.Refresh()
	r.p.vbar.Refresh()
	r.p.layOut(r.p.Size())
}

func (r *panRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.p.clip, r.p.hbar, r.p.vbar}
}
func (r *panRenderer) Destroy() {}
