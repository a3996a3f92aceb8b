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
	code   *Code
	pan    *Pan
	ground *Ground
	box    *fyne.Container
	text   string
	kind   int // kind of text
}

// Kinds of content of a panel.
const (
	otherLines = iota
	plainText
	unifiedDiff
)

// NewCodePanel creates an empty panel of at most maxHeight; 0 is unlimited.
func NewCodePanel(maxHeight float32) *CodePanel {
	p := &CodePanel{code: NewCode(nil), ground: NewGround(style.ColorCode, style.ColorLine, style.Corner)}
	p.pan = NewPan(p.code)
	p.pan.MaxHeight = maxHeight
	p.code.reveal, p.code.drag = p.reveal, p.pan.moveBy
	p.box = container.NewStack(p.ground, Inset(style.Inside, 1, style.Inside, style.Inside+4, p.pan))
	p.ExtendBaseWidget(p)
	return p
}

// SetText shows plain text.
func (p *CodePanel) SetText(text string) {
	p.set(plainText, text, PlainLines)
}

// SetDiff shows a unified diff.
func (p *CodePanel) SetDiff(diff string) {
	p.set(unifiedDiff, diff, DiffLines)
}

func (p *CodePanel) set(kind int, text string, lines func(string) []CodeLine) {
	if kind != p.kind || text != p.text {
		p.SetLines(lines(text))
		p.kind, p.text = kind, text
	}
}

// Wrap wraps long lines instead of scrolling them sideways.
func (p *CodePanel) Wrap() {
	p.code.wraps = true
	p.pan.Update()
}

// SetLines shows lines, which must not change afterwards.
func (p *CodePanel) SetLines(lines []CodeLine) {
	p.kind, p.text = otherLines, ""
	p.code.SetLines(lines)
	p.pan.Update()
}

// reveal scrolls a line into view, with some context before and after it.
func (p *CodePanel) reveal(at fyne.Position) {
	from, shown := p.code.seen()
	cell, to := codeCell(), from
	if at.Y < from.Y || at.Y+cell.Height > from.Y+shown.Height {
		to.Y = at.Y - float32(int(shown.Height/3))
	}
	if at.X < from.X || at.X+12*cell.Width > from.X+shown.Width {
		to.X = at.X - float32(int(shown.Width/3))
	}
	if to != from {
		p.pan.moveTo(to)
	}
}

// Follow keeps the end in view while the text grows.
func (p *CodePanel) Follow(on bool) { p.pan.Follow = on }

// Reset scrolls to the beginning, for a new text.
func (p *CodePanel) Reset() { p.pan.Reset() }

// Lines returns the number of lines.
func (p *CodePanel) Lines() int { return p.code.Lines() }

// SetForward sets the receiver of scroll events that the panel does not use.
func (p *CodePanel) SetForward(f func(*fyne.ScrollEvent)) { p.pan.Forward = f }

// CreateRenderer implements fyne.Widget.
func (p *CodePanel) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }

// CodeBlock is a fenced code block of Markdown: language, Copy button, highlighted code.
type CodeBlock struct {
	widget.BaseWidget
	OnCopy func(string)

	block Block
	lang  *Text
	copy  *Button
	panel *CodePanel
	box   *fyne.Container
}

// NewCodeBlock creates an empty block.
func NewCodeBlock() *CodeBlock {
	c := &CodeBlock{lang: NewText("", style.ColorMuted, style.SizeSmall), panel: NewCodePanel(0)}
	c.panel.ground.Hide()
	c.copy = NewButton("Copy", "copy", func() {
		if c.OnCopy != nil {
			c.OnCopy(c.block.Source)
		}
	})
	c.copy.Quiet, c.copy.Small, c.copy.Muted = true, true, true
	head := Inset(2, 4, 0, style.Inside+4, Row(style.Inside, 0, c.lang, c.copy))
	c.box = container.NewStack(NewGround(style.ColorCode, style.ColorLine, style.Corner), Col(0, head, c.panel))
	c.ExtendBaseWidget(c)
	return c
}

// Set shows a block. It is highlighted only when its fence is closed: half a program would be
// highlighted wrongly, and again with every letter.
func (c *CodeBlock) Set(b Block) {
	if b == c.block {
		return
	}
	c.block = b
	lang := b.Lang
	if lang == "" {
		lang = "text"
	}
	c.lang.SetText(lang)
	if b.Open {
		c.panel.SetLines(PlainLines(b.Source))
	} else {
		c.panel.SetLines(Highlight(b.Source, b.Lang))
	}
	c.panel.pan.MaxHeight = 0
	if c.panel.Lines() > 60 { // at full height it would be slow to draw and long to scroll past
		c.panel.pan.MaxHeight = codeCell().Height * 40
	}
}

// SetForward sets the receiver of scroll events that the block does not use.
func (c *CodeBlock) SetForward(f func(*fyne.ScrollEvent)) { c.panel.SetForward(f) }

// CreateRenderer implements fyne.Widget.
func (c *CodeBlock) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(c.box) }
