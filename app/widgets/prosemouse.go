package widgets

import (
	"net/url"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// linkAt returns the link under a point.
func (p *Prose) linkAt(at fyne.Position) *url.URL {
	for i := range p.laid {
		l := &p.laid[i]
		if at.Y < l.y || at.Y >= l.y+l.text.Height {
			continue
		}
		from := 0
		for k, r := range p.paras[i].runs {
			to := from + len([]rune(r.Text))
			if u := p.paras[i].inks[k].link; u != nil {
				for _, b := range l.text.Boxes(from, to, p.room(l)) {
					if x := at.X - l.left; x >= b.X && x < b.X+b.Width && at.Y-l.y >= b.Y && at.Y-l.y < b.Y+b.Height {
						return u
					}
				}
			}
			from = to
		}
	}
	return nil
}

// Tapped implements fyne.Tappable: it follows a link.
func (p *Prose) Tapped(e *fyne.PointEvent) {
	if u := p.linkAt(e.Position); u != nil && p.OnLink != nil && p.marks.from == p.marks.to {
		p.OnLink(u)
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (p *Prose) TappedSecondary(e *fyne.PointEvent) {
	if p.OnMenu != nil {
		p.OnMenu(e.AbsolutePosition)
	}
}

// MouseDown implements desktop.Mouseable.
func (p *Prose) MouseDown(e *desktop.MouseEvent) {
	if primary(e) && p.OnPress != nil {
		at := p.Index(e.Position)
		p.OnPress(at, p.presses.count(at, time.Now()))
	}
}

// MouseUp implements desktop.Mouseable.
func (p *Prose) MouseUp(*desktop.MouseEvent) {}

// MouseIn implements desktop.Hoverable.
func (p *Prose) MouseIn(e *desktop.MouseEvent) { p.MouseMoved(e) }

// MouseMoved implements desktop.Hoverable: the link under the mouse is underlined.
func (p *Prose) MouseMoved(e *desktop.MouseEvent) {
	if u := p.linkAt(e.Position); u != p.hover {
		p.hover = u
		p.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (p *Prose) MouseOut() {
	if p.hover != nil {
		p.hover = nil
		p.Refresh()
	}
}

// Hover returns the link under the mouse.
func (p *Prose) Hover() *url.URL { return p.hover }

// Cursor implements desktop.Cursorable.
func (p *Prose) Cursor() desktop.Cursor {
	switch {
	case p.hover != nil:
		return desktop.PointerCursor
	case p.OnPress != nil:
		return desktop.TextCursor
	}
	return desktop.DefaultCursor
}
