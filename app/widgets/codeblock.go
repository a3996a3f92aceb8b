package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// CodePanel shows long monospaced text on its own ground. Lines wrap only after [CodePanel.Wrap]; the panel scrolls.
type CodePanel struct {
	widget.BaseWidget
	code   *Code
	pan    *Pan
	ground *Ground
	box    *fyne.Container
	text   string
	kind   int // what text is
}

// Kinds of what a panel shows.
const (
	otherLines = iota
	plainText
	unifiedDiff
)

// NewCodePanel makes an empty panel, at most maxHeight high; 0 is as high as its text.
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

// Wrap breaks long lines instead of moving them sideways.
func (p *CodePanel) Wrap() {
	p.code.wraps = true
	p.pan.Update()
}

// SetLines shows lines, which must not change any more.
func (p *CodePanel) SetLines(lines []CodeLine) {
	p.kind, p.text = otherLines, ""
	p.code.SetLines(lines)
	p.pan.Update()
}

// reveal scrolls until a line is in view, with some before and behind it.
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

// Follow keeps the end in view while text grows.
func (p *CodePanel) Follow(on bool) { p.pan.Follow = on }

// Reset goes to the beginning, for other text.
func (p *CodePanel) Reset() { p.pan.Reset() }

// Lines is how many lines it has.
func (p *CodePanel) Lines() int { return p.code.Lines() }

// SetForward says who gets turns of the wheel that the panel does not need.
func (p *CodePanel) SetForward(f func(*fyne.ScrollEvent)) { p.pan.Forward = f }

// CreateRenderer implements fyne.Widget.
func (p *CodePanel) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }

// CodeBlock is a fenced block of Markdown: language, Copy, coloured code.
type CodeBlock struct {
	widget.BaseWidget
	OnCopy func(string)

	block Block
	lang  *Text
	copy  *Button
	panel *CodePanel
	box   *fyne.Container
}

// NewCodeBlock makes an empty block.
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

// Set shows a block. Colours come when the fence is closed: half a program is coloured wrongly, and again at each letter.
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
	if c.panel.Lines() > 60 { // drawn whole it would be slow, and long to scroll past
		c.panel.pan.MaxHeight = codeCell().Height * 40
	}
}

// SetForward says who gets turns of the wheel that the block does not need.
func (c *CodeBlock) SetForward(f func(*fyne.ScrollEvent)) { c.panel.SetForward(f) }

// CreateRenderer implements fyne.Widget.
func (c *CodeBlock) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(c.box) }
