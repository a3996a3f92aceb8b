package widgets

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// ToolCard shows a tool call, collapsed to a line or expanded.
type ToolCard struct {
	widget.BaseWidget
	OnToggle func(open bool)
	OnStop   func()
	OnCopy   func(text string)
	OnReview func()
	OnDeny   func()
	OnAllow  func()
	// OnPress is called when a mouse button is pressed in a text; see [Transcript.Press].
	OnPress func(in Passage, at, times int)
	OnMenu  func(at fyne.Position)
	// OnWhole is called at each check while a question can be answered; its argument is whether the
	// card shows the whole question.
	OnWhole func(whole bool)
	// OnMoved is called before the output changes for the same call; see [Transcript.Moved].
	OnMoved func(in Passage, by int, ok bool)

	tool  Tool
	open  bool
	edge  *Rect
	frame *Ground
	head  *Press
	dot   *widget.Icon
	verb  *Text
	mark  *Rect
	where *Text
	arg   *Line
	plus  *Text
	minus *Text
	word  *Text
	time  *Text
	icon  *widget.Icon
	fold  *widget.Icon

	body   *fyne.Container
	input  *CodePanel
	output *CodePanel
	note   *Text
	stop   *Button
	copyIt *Button
	foot   *fyne.Container
	review *Button
	rest   *Text // reason why it cannot be allowed here
	deny   *Button
	allow  *Button
	read   *Button // replaces allow
	ask    *fyne.Container
	box    *fyne.Container
	icons  [2]string
}

// NewToolCard creates an empty card.
func NewToolCard() *ToolCard {
	c := &ToolCard{
		edge: NewRect("", "", 2), frame: NewGround(style.ColorSurface, style.ColorLine, style.Corner),
		dot: widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), icon: widget.NewIcon(nil), fold: widget.NewIcon(nil),
		verb: NewHeading("", "text"), mark: NewRect("", "", 3), where: NewText("", style.ColorMuted, "text"),
		arg: newLine(), plus: NewText("", style.ColorGood, style.SizeSmall), minus: NewText("", style.ColorBad, style.SizeSmall),
		word: NewText("", style.ColorMuted, style.SizeSmall), time: NewText("", style.ColorMuted, style.SizeSmall),
		input: NewCodePanel(1), output: NewCodePanel(260), note: NewText("", style.ColorMuted, style.SizeSmall),
	}
	c.edge.SetMinSize(fyne.NewSize(3, 0))
	c.mark.SetMinSize(fyne.NewSquareSize(8))
	c.note.Ellipsis = true
	c.input.Wrap()
	c.arg.OnTap = c.toggle
	c.arg.OnPress = func(at, times int) { c.press(c.arg, at, times) }
	c.arg.OnMenu = c.menu
	for _, code := range []*Code{c.input.View(), c.output.View()} {
		code.OnPress = func(at, times int) { c.press(code, at, times) }
		code.OnMenu = c.menu
	}
	line := Row(style.Inside, 2, Row(6, -1, c.dot, c.verb), Row(6, -1, c.mark, c.where), c.arg, c.plus, c.minus, c.word, c.time, c.icon, c.fold)
	c.head = NewPress(Inset(6, style.Inside, 6, style.Inside+4, line), c.toggle)
	c.head.OnKey = func(k fyne.KeyName) bool {
		if k == fyne.KeyRight && !c.open || k == fyne.KeyLeft && c.open {
			c.toggle()
			return true
		}
		return false
	}
	c.stop = NewButton("Stop", "stop", func() { call(c.OnStop) })
	c.copyIt = NewQuiet("Copy", "copy", func() {
		if c.OnCopy != nil {
			c.OnCopy(c.copyText())
		}
	})
	c.foot = Row(style.Inside, 0, c.note, c.stop, c.copyIt)
	c.review = NewQuiet("Review…", "", func() { call(c.OnReview) })
	c.deny = NewButton("Deny", "", func() { call(c.OnDeny) })
	c.allow = NewButton("Allow once", "", func() { call(c.OnAllow) })
	c.allow.Primary = true
	c.rest = NewText("", style.ColorMuted, style.SizeSmall)
	c.rest.Ellipsis = true
	c.read = NewButton("Review…", "", func() { call(c.OnReview) })
	c.read.Primary = true
	c.ask = Row(style.Inside, 1, c.review, c.rest, c.deny, c.allow, c.read)
	c.body = Inset(0, style.Inside, style.Inside, style.Inside+4, Col(style.Inside, c.input, c.output, c.foot, c.ask))
	c.box = container.NewStack(c.frame, Border(nil, nil, c.edge, nil, Col(0, c.head, c.body)))
	c.ExtendBaseWidget(c)
	return c
}

func (c *ToolCard) toggle() {
	c.SetOpen(!c.open)
	if c.OnToggle != nil {
		c.OnToggle(c.open)
	}
}

// Asks reports whether it shows a question that can be answered on it.
func (c *ToolCard) Asks() bool { return c.ask.Visible() && c.body.Visible() }

// Open reports whether the card is expanded.
func (c *ToolCard) Open() bool { return c.open }

// SetOpen expands or collapses the card.
func (c *ToolCard) SetOpen(open bool) {
	if c.open != open {
		c.open = open
		c.show()
	}
}

// SetForward sets the receiver of scroll events that the card does not use.
func (c *ToolCard) SetForward(f func(*fyne.ScrollEvent)) {
	c.input.SetForward(f)
	c.output.SetForward(f)
}

// Set shows a state of a call. Before another call, use [ToolCard.Reset].
func (c *ToolCard) Set(t Tool) {
	if t != c.tool {
		if old := c.tool.Output; c.open && old != "" && old != t.Output && c.OnMoved != nil {
			if by, ok := moved(old, t.Output); by != 0 || !ok {
				c.OnMoved(c.output.View(), by, ok)
			}
		}
		c.tool = t
		c.show()
	}
}

// Reset prepares the card for another call.
func (c *ToolCard) Reset(open bool) {
	c.tool, c.open = Tool{}, open
	c.input.Reset()
	c.output.Reset()
}

func (c *ToolCard) copyText() string {
	t := c.tool
	switch {
	case t.Output != "":
		return t.Output
	case t.Diff != "":
		return t.Diff
	case t.Input != "":
		return t.Input
	}
	return t.Argument
}

func (c *ToolCard) show() {
	t := c.tool
	c.verb.SetText(t.Verb)
	c.where.SetText(shorten(t.Machine, 18))
	c.mark.SetFill(t.Color)
	show(c.mark, t.Machine != "")
	c.arg.SetText(t.Argument)
	waiting := t.State == ToolWaiting
	edge, line := t.Color, style.ColorLine
	if waiting {
		edge, line = style.ColorNeedsYou, style.ColorNeedsYou
	}
	c.edge.SetFill(edge)
	c.frame.SetLine(line)
	show(c.dot, waiting)
	c.plus.SetText(fmt.Sprintf("+%d", t.Added))
	c.minus.SetText(fmt.Sprintf("−%d", t.Removed))
	show(c.plus, t.Added+t.Removed > 0)
	show(c.minus, t.Added+t.Removed > 0)
	icon, color := stateIcon(t.State)
	word := color
	if t.State == ToolRunning || t.State == ToolDone {
		word = style.ColorMuted
	}
	c.word.Set(t.Word, word)
	show(c.word, t.Word != "")
	c.time.SetText(t.Time)
	show(c.time, t.Time != "")
	fold := "right"
	if c.open {
		fold = "down"
	}
	if now := [2]string{icon + string(color), fold}; now != c.icons {
		c.icons = now
		setIcon(c.icon, icon, color)
		setIcon(c.fold, fold, style.ColorMuted)
	}

	open := c.open
	if open {
		c.output.Follow(t.State == ToolRunning)
		c.output.SetText(t.Output)
	}
	show(c.output, open && t.Output != "")
	show(c.output.View(), c.output.Visible())
	c.note.SetText(t.Note)
	show(c.stop, t.CanStop)
	show(c.foot, open && !waiting)
	show(c.ask, waiting && t.Question)
	c.settle()
}

// arrange lays out the visible parts.
func (c *ToolCard) arrange() {
	if s := c.Size(); s.Width > 0 {
		c.box.Resize(fyne.NewSize(s.Width, c.box.MinSize().Height))
		relayout(c.box)
	}
}

// CreateRenderer implements fyne.Widget.
func (c *ToolCard) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(c.box) }
