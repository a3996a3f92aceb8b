package transcript

import (
	"cmp"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/code"
	"fairlead/app/diff"
	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
)

// CallCard shows a tool call, collapsed to a line or expanded.
type CallCard struct {
	widgets.Composite
	selection.Events
	OnToggle func(open bool)
	OnStop   func()
	OnUndo   func()
	// OnShowAll shows the whole output, or folds it.
	OnShowAll func(all bool)
	OnWrap    func(on bool)
	// OnOpenOutput opens the output in a window, to search in it or to read it.
	OnOpenOutput func(search bool)
	OnReview     func()
	OnDeny       func()
	OnAllow      func()
	// OnShowsAll reports, at each check, whether the card shows the whole question.
	OnShowsAll func(whole bool)
	// OnTextMoved is called before the output changes for the same call; see [View.TextMoved].
	OnTextMoved func(in selection.Passage, by int, ok bool)

	call       Call
	open       bool
	edge       *widgets.Rect
	frame      *widgets.Background
	head       *widgets.Clickable
	dot        *widget.Icon
	verb       *widgets.Text
	machineDot *widgets.Rect
	machine    *widgets.Text
	argument   *code.LineView
	added      *widgets.Text
	removed    *widgets.Text
	status     *widgets.Text
	time       *widgets.Text
	icon       *widget.Icon
	arrow      *widget.Icon

	body         *fyne.Container
	input        *code.Panel
	facts        *widgets.Paragraph
	output       *callOutput
	review       *widgets.Button
	reviewReason *widgets.Text // reason why it cannot be allowed here, or not yet
	deny         *widgets.Button
	allow        *widgets.Button
	reviewFirst  *widgets.Button // replaces allow
	answers      *fyne.Container
	box          *fyne.Container
}

// NewCallCard creates an empty card.
func NewCallCard() *CallCard {
	c := &CallCard{
		edge: widgets.NewRect("", "", 2), frame: widgets.NewBackground(style.ColorSurface, style.ColorLine, style.Corner),
		dot: widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), icon: widget.NewIcon(nil), arrow: widget.NewIcon(nil),
		verb: widgets.NewHeading("", "text"), machineDot: widgets.NewRect("", "", 3), machine: widgets.NewText("", style.ColorMuted, "text"),
		argument: code.NewLineView(), added: widgets.NewText("", style.ColorGood, style.SizeSmall), removed: widgets.NewText("", style.ColorBad, style.SizeSmall),
		status: widgets.NewText("", style.ColorMuted, style.SizeSmall), time: widgets.NewText("", style.ColorMuted, style.SizeSmall),
		input: code.NewPanel(1), facts: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall),
	}
	c.edge.SetMinSize(fyne.NewSize(3, 0))
	c.machineDot.SetMinSize(fyne.NewSquareSize(8))
	c.output = c.newOutput()
	c.input.SetWrap(true)
	c.argument.OnTap = c.toggle
	c.argument.Events, c.input.View().Events, c.output.panel.View().Events = &c.Events, &c.Events, &c.Events
	line := widgets.Row(style.Inside, 2, widgets.Row(6, -1, c.dot, c.verb), widgets.Row(6, -1, c.machineDot, c.machine), c.argument, c.added, c.removed, c.status, c.time, c.icon, c.arrow)
	c.head = widgets.NewClickable(widgets.Inset(5, style.Inside-1, 5, style.Inside+4, line), c.toggle)
	c.head.OnKey = func(k fyne.KeyName) bool {
		if k == fyne.KeyRight && !c.open || k == fyne.KeyLeft && c.open {
			c.toggle()
			return true
		}
		return false
	}
	c.review = widgets.NewQuietButton("Review…", "", func() { widgets.Call(c.OnReview) })
	c.deny = widgets.NewButton("Deny", "", func() { widgets.Call(c.OnDeny) })
	c.allow = widgets.NewButton("Allow once", "", func() { widgets.Call(c.OnAllow) })
	c.allow.Primary = true
	c.reviewReason = widgets.NewText("", style.ColorMuted, style.SizeSmall)
	c.reviewReason.Ellipsis = true
	c.reviewFirst = widgets.NewButton("Review…", "", func() { widgets.Call(c.OnReview) })
	c.reviewFirst.Primary = true
	c.answers = widgets.Row(style.Inside, 1, c.review, c.reviewReason, c.deny, c.allow, c.reviewFirst)
	c.body = widgets.Inset(0, style.Inside, style.Inside, style.Inside+4, widgets.Col(style.Inside, c.input, c.facts, c.output.panel, c.output.note, c.output.foot, c.answers))
	// the head stays inside the line of the frame, also under the mouse
	c.box = container.NewStack(c.frame, widgets.Border(nil, nil, c.edge, nil, widgets.Col(0, widgets.Inset(1, 1, 1, 0, c.head), c.body)))
	c.Compose(c, c.box)
	return c
}

func (c *CallCard) toggle() {
	c.SetOpen(!c.open)
	widgets.CallWith(c.OnToggle, c.open)
}

// SetOpen expands or collapses the card.
func (c *CallCard) SetOpen(open bool) {
	if c.open != open {
		c.open = open
		c.show()
	}
}

// Set shows a state of a call. Before another call, use [CallCard.Reset].
func (c *CallCard) Set(t Call) {
	if t != c.call {
		before, wasFolded := c.call.Output, c.output.folded
		if c.open && before != "" && before != t.Output && c.OnTextMoved != nil {
			by, ok := outputShift(before, t.Output)
			if ok = ok && !wasFolded && !c.output.folds(t); by != 0 || !ok {
				c.OnTextMoved(c.output.panel.View(), by, ok)
			}
		}
		c.call = t
		c.show()
	}
}

// SetOutput sets how the output is shown: all of it or folded, with wrapped lines or not.
func (c *CallCard) SetOutput(full, wraps bool) {
	if o := c.output; o.full != full || o.wraps != wraps {
		if c.OnTextMoved != nil && o.full != full {
			c.OnTextMoved(o.panel.View(), 0, false)
		}
		o.full, o.wraps = full, wraps
		c.show()
	}
}

// Reset prepares the card for another call.
func (c *CallCard) Reset(open bool) {
	c.call, c.open = Call{}, open
	c.input.Scroller.Reset()
	c.output.reset()
}

// CopyText returns the text that the card's button copies.
func (c *CallCard) CopyText() string {
	return cmp.Or(code.CleanOutput(c.call.Output), c.call.Diff, c.call.Input, c.call.Argument)
}

// Passages returns its passages: always the same number, some of which may be hidden.
func (c *CallCard) Passages() []selection.Passage {
	return []selection.Passage{c.argument, c.input.View(), c.output.panel.View()}
}

func (c *CallCard) show() {
	t := c.call
	c.head.Name = t.accessibleText()
	c.verb.SetText(t.Verb)
	c.machine.SetText(format.Clip(t.Machine, 18))
	c.machineDot.Set(t.Color, "")
	widgets.SetVisible(c.machineDot, t.Machine != "")
	c.argument.SetText(t.Argument)
	waiting := t.State == CallWaiting
	c.edge.Set(widgets.Choose(waiting, style.ColorNeedsYou, t.Color), "")
	c.frame.Set(style.ColorSurface, widgets.Choose(waiting, style.ColorNeedsYou, style.ColorLine))
	widgets.SetVisible(c.dot, waiting)
	c.added.SetText(fmt.Sprintf("+%d", t.Added))
	c.removed.SetText(fmt.Sprintf("–%d", t.Removed))
	widgets.SetVisible(c.added, t.Added+t.Removed > 0)
	widgets.SetVisible(c.removed, t.Added+t.Removed > 0)
	icon := stateIcons[t.State]
	c.status.Set(t.Status, widgets.Choose(t.State == CallRunning || t.State == CallDone, style.ColorMuted, icon.color))
	widgets.SetVisible(c.status, t.Status != "")
	c.time.SetText(t.Time)
	widgets.SetVisible(c.time, t.Time != "")
	widgets.SetIcon(c.icon, icon.name, icon.color)
	widgets.SetIcon(c.arrow, widgets.Choose(c.open, "down", "right"), style.ColorMuted)

	c.output.show(t, c.open)
	widgets.SetVisible(c.answers, waiting && t.CanAnswer)
	c.facts.Set(t.Facts, style.ColorMuted)
	widgets.SetVisible(c.facts, waiting && t.Facts != "")
	c.relayout()
}

func (c *CallCard) arrange() {
	if s := c.Size(); s.Width > 0 {
		c.box.Resize(fyne.NewSize(s.Width, c.box.MinSize().Height))
		widgets.Relayout(c.box)
	}
}

// Numbers of input rows in view at once: of a question, and of an answered one.
const (
	inputRows     = 12
	doneInputRows = 18
)

// Resize implements fyne.CanvasObject: text that does not fit in the line is shown below it.
func (c *CallCard) Resize(size fyne.Size) {
	c.BaseWidget.Resize(size)
	if c.showInput() {
		c.arrange()
	}
	c.updateAnswers()
}

// Refresh implements fyne.Widget: a new text size changes what fits.
func (c *CallCard) Refresh() {
	c.BaseWidget.Refresh()
	c.relayout()
}

// relayout repeats the layout of the card in steps: once the line has its width, it decides what
// else must be shown, and once that has its place, which answers are possible.
func (c *CallCard) relayout() {
	c.arrange()
	c.Resize(c.Size()) // the rest depends on the size
}

// showInput shows the input, and reports whether its height changed.
func (c *CallCard) showInput() (changed bool) {
	t, was := c.call, c.box.MinSize().Height
	text := t.Input
	if text == "" && c.Size().Width > 0 && c.argument.Cut() {
		text = t.Argument
	}
	in := c.open && (t.Diff != "" || text != "")
	rows := widgets.Choose[float32](t.State == CallWaiting, inputRows, doneInputRows)
	c.input.Scroller.MaxHeight = rows * code.Cell().Height
	switch {
	case !in:
	case t.Diff != "":
		c.input.SetFormatted("diff", t.Diff, diff.Lines)
	default:
		c.input.SetText(text)
	}
	widgets.SetVisible(c.input, in)
	widgets.SetVisible(c.input.View(), in)
	c.argument.Repeated = in && repeatsIn(c.argument.Selectable().PlainText(), c.input.View().Selectable().PlainText())
	widgets.SetVisible(c.body, c.open && t.State != CallWaiting || in || c.answers.Visible())
	return c.box.MinSize().Height != was
}

// updateAnswers shows Allow if the card has shown the whole question, else the review button.
func (c *CallCard) updateAnswers() {
	whole, was := c.showsAll(), c.allow.Visible()
	hint := c.call.AllowHint
	c.deny.SetText(cmp.Or(c.call.DenyText, "Deny"))
	switch {
	case c.call.NeedsReview && c.call.DenyText != "":
		hint = ""
	case c.call.NeedsReview:
		hint = "Allow it in the review."
	case !whole:
		hint = "Too long to show in full here."
	}
	c.reviewReason.SetText(hint)
	widgets.SetEnabled(c.allow, whole && c.call.AllowEnabled)
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
