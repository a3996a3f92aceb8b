package widgets

import (
	"slices"
	"weak"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

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
	needed := full > shown+0.5 && shown > 0
	SetVisible(b, needed)
	if needed {
		b.layOut()
	}
}

// along returns the value in the direction of the bar.
func (b *ScrollBar) along(x, y float32) float32 { return Choose(b.vertical, y, x) }

func (b *ScrollBar) layOut() {
	length := b.along(b.Size().Components())
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
	thick := Choose(b.hovered, 6, float32(4))
	look := canvas.Rectangle{FillColor: style.Color("scrollBar"), CornerRadius: thick / 2}
	if b.rect.FillColor != look.FillColor || b.rect.CornerRadius != look.CornerRadius {
		b.rect.FillColor, b.rect.CornerRadius = look.FillColor, look.CornerRadius
		b.rect.Refresh()
	}
	if b.vertical {
		b.rect.Move(fyne.NewPos(ScrollBarWidth-thick-1, at))
		b.rect.Resize(fyne.NewSize(thick, thumb))
	} else {
		b.rect.Move(fyne.NewPos(at, ScrollBarWidth-thick-1))
		b.rect.Resize(fyne.NewSize(thumb, thick))
	}
}

func (b *ScrollBar) Dragged(e *fyne.DragEvent) {
	b.onMove(b.offset + b.along(e.Dragged.Components())*b.dragFactor)
}
func (b *ScrollBar) DragEnd() {}

// Tapped scrolls by one view towards the tapped position.
func (b *ScrollBar) Tapped(e *fyne.PointEvent) {
	step := b.shown * 0.9
	if b.along(e.Position.Components()) < b.along(b.rect.Position().Components()) {
		step = -step
	}
	b.onMove(b.offset + step)
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

// verticalScrolls are the scroll containers in use; they belong to the GUI thread.
var verticalScrolls []weak.Pointer[container.Scroll]

// NewVScroll scrolls content vertically and supports [ScrollIntoView].
func NewVScroll(content fyne.CanvasObject) *container.Scroll {
	s := container.NewVScroll(content)
	verticalScrolls = slices.DeleteFunc(verticalScrolls, func(p weak.Pointer[container.Scroll]) bool { return p.Value() == nil })
	verticalScrolls = append(verticalScrolls, weak.Make(s))
	return s
}

// ScrollIntoView scrolls an object into view, as Fyne does not for the object that Tab focuses.
func ScrollIntoView(o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	for _, p := range verticalScrolls {
		s := p.Value()
		if s == nil || !s.Visible() || s.Size().Height <= 0 || !contains(d, s, o) {
			continue
		}
		top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s).Y
		bottom, height := top+o.Size().Height, s.Size().Height
		to := s.Offset
		switch {
		case bottom-top > height:
			continue
		case top < 0:
			to.Y += top - style.Inside
		case bottom > height:
			to.Y += bottom - height + style.Inside
		default:
			continue
		}
		s.ScrollToOffset(to)
	}
}

// ScrollToTop scrolls the area around an object so that the object is at its top.
func ScrollToTop(o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	for _, p := range verticalScrolls {
		if s := p.Value(); s != nil && s.Visible() && s.Size().Height > 0 && contains(d, s, o) {
			top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s).Y
			s.ScrollToOffset(s.Offset.AddXY(0, top-style.Inside))
		}
	}
}

// contains reports whether a scroll container contains an object, whose parent is unknown.
func contains(d fyne.Driver, s *container.Scroll, o fyne.CanvasObject) bool {
	at, before := s.Content.Position(), d.AbsolutePositionForObject(o)
	s.Content.Move(at.AddXY(0, 1))
	moved := d.AbsolutePositionForObject(o) != before
	s.Content.Move(at)
	return moved
}
