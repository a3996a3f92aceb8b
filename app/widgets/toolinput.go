package widgets

import "fyne.io/fyne/v2"

// inputRows is the number of input rows in view at once.
const inputRows = 12

// Resize implements fyne.CanvasObject: text that does not fit in the line is shown below it.
func (c *ToolCard) Resize(size fyne.Size) {
	c.BaseWidget.Resize(size)
	c.fit()
}

// Refresh implements fyne.Widget: a new text size changes what fits.
func (c *ToolCard) Refresh() {
	c.BaseWidget.Refresh()
	c.settle()
}

// settle repeats the layout of the card.
func (c *ToolCard) settle() {
	c.arrange()
	c.fit()
}

// fit runs in steps: once the line has its width, it decides what else must be shown, and once that
// has its place, which answers are possible.
func (c *ToolCard) fit() {
	if c.fill() {
		c.arrange()
	}
	c.answers()
}

// fill shows the input, and reports whether its height changed.
func (c *ToolCard) fill() (changed bool) {
	t, was := c.tool, c.box.MinSize().Height
	text := t.Input
	if text == "" && c.Size().Width > 0 && c.arg.Cut() {
		text = t.Argument
	}
	in := c.open && (t.Diff != "" || text != "")
	c.input.SetMaxHeight(inputRows * codeCell().Height)
	switch {
	case !in:
	case t.Diff != "":
		c.input.SetFormatted("diff", t.Diff, DiffLines)
	default:
		c.input.SetText(text)
	}
	show(c.input, in)
	show(c.input.View(), in)
	c.arg.Repeated = in && echoes(c.arg.Words(), c.input.View().Words())
	show(c.body, c.open && t.State != ToolWaiting || in || c.ask.Visible())
	return c.box.MinSize().Height != was
}

// answers shows Allow if the card has shown the whole question, and otherwise the review button.
func (c *ToolCard) answers() {
	whole, was, why := c.whole(), c.allow.Visible(), ""
	if !whole {
		why = "Not all of it is shown here."
	}
	c.rest.SetText(why)
	if on := whole && c.tool.Armed; on == c.allow.Disabled() {
		if on {
			c.allow.Enable()
		} else {
			c.allow.Disable()
		}
	}
	show(c.review, whole)
	show(c.allow, whole)
	show(c.read, !whole)
	if was != whole {
		relayout(c.ask)
	}
	if c.tool.Question && c.OnWhole != nil {
		c.OnWhole(whole)
	}
}

// whole reports whether the card shows the question up to its end.
func (c *ToolCard) whole() bool {
	t := c.tool
	switch {
	case t.Review || c.Size().Width <= 0:
		return false
	case c.input.Visible():
		return c.input.ShowsAll() && (c.arg.Repeated || !c.arg.Cut())
	}
	return t.Diff == "" && t.Input == "" && !c.arg.Cut()
}
