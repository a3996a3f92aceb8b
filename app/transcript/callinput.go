package transcript

import (
	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/diff"
	"fairlead/app/widgets"
)

// inputRows is the number of input rows in view at once.
const inputRows = 12

// Resize implements fyne.CanvasObject: text that does not fit in the line is shown below it.
func (c *CallCard) Resize(size fyne.Size) {
	c.BaseWidget.Resize(size)
	c.fitInput()
}

// Refresh implements fyne.Widget: a new text size changes what fits.
func (c *CallCard) Refresh() {
	c.BaseWidget.Refresh()
	c.relayout()
}

// relayout repeats the layout of the card.
func (c *CallCard) relayout() {
	c.arrange()
	c.fitInput()
}

// fitInput runs in steps: once the line has its width, it decides what else must be shown, and once
// that has its place, which answers are possible.
func (c *CallCard) fitInput() {
	if c.showInput() {
		c.arrange()
	}
	c.updateAnswers()
}

// showInput shows the input, and reports whether its height changed.
func (c *CallCard) showInput() (changed bool) {
	t, was := c.call, c.box.MinSize().Height
	text := t.Input
	if text == "" && c.Size().Width > 0 && c.argument.Cut() {
		text = t.Argument
	}
	in := c.open && (t.Diff != "" || text != "")
	c.input.SetMaxHeight(inputRows * code.Cell().Height)
	switch {
	case !in:
	case t.Diff != "":
		c.input.SetFormatted("diff", t.Diff, diff.Lines)
	default:
		c.input.SetText(text)
	}
	widgets.SetVisible(c.input, in)
	widgets.SetVisible(c.input.View(), in)
	c.argument.Repeated = in && repeatsIn(c.argument.PlainText(), c.input.View().PlainText())
	widgets.SetVisible(c.body, c.open && t.State != CallWaiting || in || c.answers.Visible())
	return c.box.MinSize().Height != was
}

// updateAnswers shows Allow if the card has shown the whole question, and otherwise the review
// button.
func (c *CallCard) updateAnswers() {
	whole, was, why := c.showsAll(), c.allow.Visible(), ""
	if !whole {
		why = "Too long to show in full here."
	}
	c.reviewReason.SetText(why)
	if on := whole && c.call.AllowEnabled; on == c.allow.Disabled() {
		if on {
			c.allow.Enable()
		} else {
			c.allow.Disable()
		}
	}
	widgets.SetVisible(c.review, whole)
	widgets.SetVisible(c.allow, whole)
	widgets.SetVisible(c.reviewFirst, !whole)
	if was != whole {
		widgets.Relayout(c.answers)
	}
	if c.call.CanAnswer && c.OnShowsAll != nil {
		c.OnShowsAll(whole)
	}
}

// showsAll reports whether the card shows the question up to its end.
func (c *CallCard) showsAll() bool {
	t := c.call
	switch {
	case t.NeedsReview || c.Size().Width <= 0:
		return false
	case c.input.Visible():
		return c.input.ShowsAll() && (c.argument.Repeated || !c.argument.Cut())
	}
	return t.Diff == "" && t.Input == "" && !c.argument.Cut()
}
