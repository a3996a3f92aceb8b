package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// CodePanel shows long monospaced text on a background. It wraps lines only after [CodePanel.Wrap],
// and scrolls.
type CodePanel struct {
	widget.BaseWidget
	code           *Code
	pan            *Pan
	ground         *Ground
	box            *fyne.Container
	source, format string // last text of SetFormatted
}

// NewCodePanel creates an empty panel of at most maxHeight; 0 is unlimited.
func NewCodePanel(maxHeight float32) *CodePanel {
	p := &CodePanel{code: NewCode(nil), ground: NewGround(style.ColorCode, style.ColorLine, style.Corner)}
	p.pan = NewPan(p.code)
	p.pan.MaxHeight = maxHeight
	p.code.reveal, p.code.drag = p.reveal, p.pan.MoveBy
	p.box = container.NewStack(p.ground, Inset(style.Inside, 1, style.Inside, style.Inside+4, p.pan))
	p.ExtendBaseWidget(p)
	return p
}

// SetText shows plain text.
func (p *CodePanel) SetText(text string) {
	p.SetFormatted("plain", text, PlainLines)
}

// SetFormatted shows the lines of a text in a format. It does nothing if the panel shows the same
// text in the same format already.
func (p *CodePanel) SetFormatted(format, text string, lines func(string) []CodeLine) {
	if format != p.format || text != p.source {
		p.SetLines(lines(text))
		p.format, p.source = format, text
	}
}

// SetMaxHeight sets the height from which on the panel scrolls; 0 is unlimited.
func (p *CodePanel) SetMaxHeight(height float32) { p.pan.MaxHeight = height }

// ShowsAll reports whether the whole text is visible without scrolling down.
func (p *CodePanel) ShowsAll() bool {
	return p.code.room > 0 && p.code.full().Height <= p.pan.MaxHeight+0.5
}

// Wrap wraps long lines instead of scrolling them sideways.
func (p *CodePanel) Wrap() {
	p.code.wraps = true
	p.pan.Update()
}

// SetLines shows lines, which must not change afterwards.
func (p *CodePanel) SetLines(lines []CodeLine) {
	p.format, p.source = "", ""
	p.code.SetLines(lines)
	p.pan.Update()
}

// reveal scrolls a line into view, with some context before and after it.
func (p *CodePanel) reveal(at fyne.Position) {
	from, shown := p.code.VisibleArea()
	cell, to := codeCell(), from
	if at.Y < from.Y || at.Y+cell.Height > from.Y+shown.Height {
		to.Y = at.Y - float32(int(shown.Height/3))
	}
	if at.X < from.X || at.X+12*cell.Width > from.X+shown.Width {
		to.X = at.X - float32(int(shown.Width/3))
	}
	if to != from {
		p.pan.MoveTo(to)
	}
}

// HideBackground removes the background and the border.
func (p *CodePanel) HideBackground() { p.ground.Hide() }

// Follow keeps the end in view while the text grows.
func (p *CodePanel) Follow(on bool) { p.pan.Follow = on }

// Reset scrolls to the beginning, for a new text.
func (p *CodePanel) Reset() { p.pan.Reset() }

// Lines returns the number of lines.
func (p *CodePanel) Lines() int { return p.code.Lines() }

// View returns the text of the panel.
func (p *CodePanel) View() *Code { return p.code }

// SetForward sets the receiver of scroll events that the panel does not use.
func (p *CodePanel) SetForward(f func(*fyne.ScrollEvent)) { p.pan.Forward = f }

// CreateRenderer implements fyne.Widget.
func (p *CodePanel) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }
