package code

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Panel shows long monospaced text on a background, and scrolls. It wraps after [Panel.SetWrap].
type Panel struct {
	widgets.Composite
	Scroller       *widgets.Scroller
	view           *View
	background     *widgets.Background
	source, format string // last text of SetFormatted
}

// NewPanel creates an empty panel of at most maxHeight; 0 is unlimited.
func NewPanel(maxHeight float32) *Panel {
	p := &Panel{view: NewView(nil), background: widgets.NewBackground(style.ColorCode, style.ColorLine, style.Corner)}
	p.Scroller = widgets.NewScroller(p.view)
	p.Scroller.MaxHeight = maxHeight
	p.view.reveal, p.view.drag = p.reveal, p.Scroller.MoveBy
	p.Scroller.Forward = func(e *fyne.ScrollEvent) { p.view.Scroll(e) }
	p.Compose(p, container.NewStack(p.background, widgets.Inset(style.Inside, 1, style.Inside, style.Inside+4, p.Scroller)))
	return p
}

// SetText shows plain text.
func (p *Panel) SetText(text string) { p.SetFormatted("plain", text, PlainLines) }

// SetFormatted shows the lines of a text in a format, unless it shows them already.
func (p *Panel) SetFormatted(format, text string, lines func(string) []Line) {
	if format != p.format || text != p.source {
		p.SetLines(lines(text))
		p.format, p.source = format, text
	}
}

// ShowsAll reports whether the whole text is visible without scrolling down.
func (p *Panel) ShowsAll() bool {
	return p.view.rows.wrapColumns > 0 && p.view.rows.size().Height <= p.Scroller.MaxHeight+0.5
}

// SetWrap wraps long lines, or scrolls them sideways.
func (p *Panel) SetWrap(on bool) {
	if p.view.setWrap(on) {
		p.Scroller.Update()
	}
}

// SetLines shows lines, which must not change afterwards.
func (p *Panel) SetLines(lines []Line) {
	p.format, p.source = "", ""
	p.view.SetLines(lines)
	p.Scroller.Update()
}

// reveal scrolls a line into view, with some context before and after it.
func (p *Panel) reveal(at fyne.Position) {
	from, shown := p.view.VisibleArea()
	cell, to := Cell(), from
	if at.Y < from.Y || at.Y+cell.Height > from.Y+shown.Height {
		to.Y = at.Y - float32(int(shown.Height/3))
	}
	if at.X < from.X || at.X+12*cell.Width > from.X+shown.Width {
		to.X = at.X - float32(int(shown.Width/3))
	}
	if to != from {
		p.Scroller.MoveTo(to)
	}
}

// HideBackground removes the background and the border.
func (p *Panel) HideBackground() { p.background.Hide() }

// SetForward sets the receiver of scroll events that the panel does not use.
func (p *Panel) SetForward(f func(*fyne.ScrollEvent)) { p.view.Forward = f }

// Lines returns the number of lines before wrapping.
func (p *Panel) Lines() int { return len(p.view.rows.source) }

// View returns the text of the panel.
func (p *Panel) View() *View { return p.view }
