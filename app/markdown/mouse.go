package markdown

import (
	"net/url"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/selection"
)

// linkAt returns the link under a point.
func (p *RichText) linkAt(at fyne.Position) *url.URL {
	for i := range p.placed {
		l := &p.placed[i]
		if at.Y < l.y || at.Y >= l.y+l.text.Height {
			continue
		}
		from := 0
		for k, r := range p.paragraphs[i].runs {
			to := from + len([]rune(r.Text))
			if u := p.paragraphs[i].decorations[k].link; u != nil {
				for _, b := range l.text.Boxes(from, to, p.textWidth(l)) {
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
func (p *RichText) Tapped(e *fyne.PointEvent) {
	if u := p.linkAt(e.Position); u != nil && p.OnLink != nil && p.Highlights.From == p.Highlights.To {
		p.OnLink(u)
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (p *RichText) TappedSecondary(e *fyne.PointEvent) {
	if p.OnMenu != nil {
		p.OnMenu(e.AbsolutePosition)
	}
}

// MouseDown implements desktop.Mouseable.
func (p *RichText) MouseDown(e *desktop.MouseEvent) {
	if selection.IsPrimary(e) && p.OnPress != nil {
		at := p.Index(e.Position)
		p.OnPress(at, p.clicks.Count(at, time.Now()))
	}
}

// MouseUp implements desktop.Mouseable.
func (p *RichText) MouseUp(*desktop.MouseEvent) {}

// MouseIn implements desktop.Hoverable.
func (p *RichText) MouseIn(e *desktop.MouseEvent) { p.MouseMoved(e) }

// MouseMoved implements desktop.Hoverable: the link under the mouse is underlined.
func (p *RichText) MouseMoved(e *desktop.MouseEvent) {
	if u := p.linkAt(e.Position); u != p.hover {
		p.hover = u
		p.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (p *RichText) MouseOut() {
	if p.hover != nil {
		p.hover = nil
		p.Refresh()
	}
}

// Cursor implements desktop.Cursorable.
func (p *RichText) Cursor() desktop.Cursor {
	switch {
	case p.hover != nil:
		return desktop.PointerCursor
	case p.OnPress != nil:
		return desktop.TextCursor
	}
	return desktop.DefaultCursor
}
