package markdown

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/code"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// CodeBlock is a fenced code block of Markdown: language, Copy button, highlighted code.
type CodeBlock struct {
	widget.BaseWidget
	OnCopy func(string)

	block Block
	lang  *widgets.Text
	copy  *widgets.Button
	panel *code.Panel
	box   *fyne.Container
}

// NewCodeBlock creates an empty block.
func NewCodeBlock() *CodeBlock {
	c := &CodeBlock{lang: widgets.NewText("", style.ColorMuted, style.SizeSmall), panel: code.NewPanel(0)}
	c.panel.HideBackground()
	c.copy = widgets.NewButton("Copy", "copy", func() {
		if c.OnCopy != nil {
			c.OnCopy(c.block.Source)
		}
	})
	c.copy.Quiet, c.copy.Small, c.copy.Muted = true, true, true
	head := widgets.Inset(2, 4, 0, style.Inside+4, widgets.Row(style.Inside, 0, c.lang, c.copy))
	c.box = container.NewStack(widgets.NewBackground(style.ColorCode, style.ColorLine, style.Corner), widgets.Col(0, head, c.panel))
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
		c.panel.SetLines(code.PlainLines(b.Source))
	} else {
		c.panel.SetLines(code.Highlight(b.Source, b.Lang))
	}
	height := float32(0)
	if c.panel.Lines() > 60 { // at full height it would be slow to draw and long to scroll past
		height = code.Cell().Height * 40
	}
	c.panel.SetMaxHeight(height)
}

// SetForward sets the receiver of scroll events that the block does not use.
func (c *CodeBlock) SetForward(f func(*fyne.ScrollEvent)) { c.panel.SetForward(f) }

// CreateRenderer implements fyne.Widget.
func (c *CodeBlock) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(c.box) }
