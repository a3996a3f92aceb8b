package widgets

import "fyne.io/fyne/v2"

// inputRows is how many rows of what goes in are in view at once.
const inputRows = 12

// Resize implements fyne.CanvasObject: what the line has no room for is shown below it.
func (c *ToolCard) Resize(size fyne.Size) {
	c.BaseWidget.Resize(size)
	c.fit()
}

// Refresh implements fyne.Widget: with another size of text other things have room.
func (c *ToolCard) Refresh() {
	c.BaseWidget.Refresh()
	c.settle()
}

// settle lays the card out anew.
func (c *ToolCard) settle() {
	c.arrange()
	c.fit()
}

// fit goes on when the line has its width: only then it is known what else must be shown, and only when that has its place, what can be answered.
func (c *ToolCard) fit() {
	if c.fill() {
		c.arrange()
	}
	c.answers()
}

// fill shows what goes in, and reports whether that takes another height.
func (c *ToolCard) fill() (changed bool) {
	t, was := c.tool, c.box.MinSize().Height
	text := t.Input
	if text == "" && c.Size().Width > 0 && c.arg.cut() {
		text = t.Argument
	}
	in := c.open && (t.Diff != "" || text != "")
	c.input.pan.MaxHeight = inputRows * codeCell().Height
	switch {
	case !in:
	case t.Diff != "":
		c.input.SetDiff(t.Diff)
	default:
		c.input.SetText(text)
	}
	show(c.input, in)
	show(c.input.code, in)
	c.arg.echo = in && echoes(c.arg.Words(), c.input.code.Words())
	show(c.body, c.open && t.State != ToolWaiting || in || c.ask.Visible())
	return c.box.MinSize().Height != was
}

// answers offers Allow where all that is asked about was shown, and the review elsewhere.
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

// whole reports whether the card shows all that is asked about, to its end.
func (c *ToolCard) whole() bool {
	t := c.tool
	switch {
	case t.Review || c.Size().Width <= 0:
		return false
	case c.input.Visible() && c.input.code.room == 0: // not laid out
		return false
	case c.input.Visible():
		return c.input.code.full().Height <= c.input.pan.MaxHeight+0.5 && (c.arg.echo || !c.arg.cut())
	}
	return t.Diff == "" && t.Input == "" && !c.arg.cut()
}
