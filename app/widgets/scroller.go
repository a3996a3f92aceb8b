package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
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

var _ fyne.Scrollable = (*Scroller)(nil)

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

// Offset returns the scroll position.
func (p *Scroller) Offset() fyne.Position { return p.offset }

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

// ScrollBarWidth is the width of a vertical bar and the height of a horizontal one.
const ScrollBarWidth float32 = 8

// ScrollBar is a scroll bar. It is hidden while everything is visible.
type ScrollBar struct {
	widget.BaseWidget
	vertical            bool
	offset, shown, full float32
	onMove              func(offset float32)
	hovered             bool
	rect                *canvas.Rectangle
	dragFactor          float32 // offset per unit of dragging
}

var (
	_ fyne.Draggable    = (*ScrollBar)(nil)
	_ fyne.Tappable     = (*ScrollBar)(nil)
	_ desktop.Hoverable = (*ScrollBar)(nil)
)

// NewScrollBar creates a scroll bar; onMove is called with the offset to scroll to.
func NewScrollBar(vertical bool, onMove func(float32)) *ScrollBar {
	b := &ScrollBar{vertical: vertical, onMove: onMove, rect: canvas.NewRectangle(nil)}
	b.ExtendBaseWidget(b)
	b.Hide()
	return b
}

// Set sets the offset and the size of the visible part, and the size of the whole.
func (b *ScrollBar) Set(offset, shown, full float32) {
	b.offset, b.shown, b.full = offset, shown, full
	if full <= shown+0.5 || shown <= 0 {
		if b.Visible() {
			b.Hide()
		}
		return
	}
	if !b.Visible() {
		b.Show()
	}
	b.layOut()
}

func (b *ScrollBar) length() float32 {
	if b.vertical {
		return b.Size().Height
	}
	return b.Size().Width
}

func (b *ScrollBar) layOut() {
	length := b.length()
	if b.full <= 0 || length <= 0 {
		return
	}
	thumb := min(max(length*b.shown/b.full, 24), length)
	at := float32(0)
	if b.full > b.shown {
		at = (length - thumb) * min(b.offset/(b.full-b.shown), 1)
	}
	if length > thumb {
		b.dragFactor = (b.full - b.shown) / (length - thumb)
	}
	thick := float32(4)
	if b.hovered {
		thick = 6
	}
	b.rect.FillColor = style.Color("scrollBar")
	b.rect.CornerRadius = thick / 2
	if b.vertical {
		b.rect.Move(fyne.NewPos(ScrollBarWidth-thick-1, at))
		b.rect.Resize(fyne.NewSize(thick, thumb))
	} else {
		b.rect.Move(fyne.NewPos(at, ScrollBarWidth-thick-1))
		b.rect.Resize(fyne.NewSize(thumb, thick))
	}
	b.rect.Refresh()
}

func (b *ScrollBar) Dragged(e *fyne.DragEvent) {
	d := e.Dragged.DX
	if b.vertical {
		d = e.Dragged.DY
	}
	b.onMove(b.offset + d*b.dragFactor)
}
func (b *ScrollBar) DragEnd() {}

// Tapped scrolls by one view towards the tapped position.
func (b *ScrollBar) Tapped(e *fyne.PointEvent) {
	at, thumb := e.Position.X, b.rect.Position().X
	if b.vertical {
		at, thumb = e.Position.Y, b.rect.Position().Y
	}
	if at < thumb {
		b.onMove(b.offset - b.shown*0.9)
	} else {
		b.onMove(b.offset + b.shown*0.9)
	}
}

func (b *ScrollBar) MouseIn(*desktop.MouseEvent)    { b.hovered = true; b.layOut() }
func (b *ScrollBar) MouseMoved(*desktop.MouseEvent) {}
func (b *ScrollBar) MouseOut()                      { b.hovered = false; b.layOut() }

func (b *ScrollBar) CreateRenderer() fyne.WidgetRenderer { return &barRenderer{b} }

type barRenderer struct{ b *ScrollBar }

func (r *barRenderer) MinSize() fyne.Size           { return fyne.NewSize(ScrollBarWidth, ScrollBarWidth) }
func (r *barRenderer) Layout(fyne.Size)             { r.b.layOut() }
func (r *barRenderer) Refresh()                     { r.b.layOut() }
func (r *barRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.b.rect} }
func (r *barRenderer) Destroy()                     {}
