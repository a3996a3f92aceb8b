package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// buttons are the dialog's buttons, and the field for a reason.
type buttons struct {
	deny, denyWithReason, notNow *widgets.Button
	next, edit                   *widgets.Button
	allow                        *widgets.SplitButton
	reason                       *textEntry
	reasonRow                    *fyne.Container
	questionRow                  *fyne.Container

	back, confirm *widgets.Button // of a step
	stepRow       *fyne.Container
}

// newButtons creates the buttons for d.
func newButtons(d *Dialog) *buttons {
	b := &buttons{
		deny:           widgets.NewButton("Deny", "denied", d.Deny),
		denyWithReason: widgets.NewQuietButton("Deny with reason…", "", func() { d.frame.askReason() }),
		notNow:         widgets.NewQuietButton("Not now", "clock", d.snooze),
		next:           widgets.NewQuietButton("Next", "right", func() { d.show(d.queue.index + 1) }),
		edit:           widgets.NewQuietButton("Edit…", "", d.startEdit),
		allow:          widgets.NewSplitButton("Allow once", true, func() { d.allow(d.options.scope) }, d.scopeMenu),
		reason:         newTextEntry(d.keys.handle, d.arming.keyPressed),
		back:           widgets.NewButton("Back", "back", func() { d.show(d.queue.index) }),
		confirm:        widgets.NewButton("", "", d.finishStep),
	}
	b.deny.Danger, b.confirm.Primary = true, true
	for _, k := range []*widgets.Button{b.deny, b.denyWithReason, b.allow.Main, b.allow.More, b.next, b.notNow, b.edit, b.back, b.confirm} {
		k.OnKey = d.keys.handle
	}
	b.reason.SetPlaceHolder("Reason for the agent (optional)")
	b.reason.OnSubmitted = func(string) { d.Deny() }
	b.reasonRow = widgets.Border(nil, nil, nil, widgets.NewButton("Deny", "", d.Deny), b.reason)
	b.reasonRow.Hide()
	b.questionRow = widgets.Col(style.Gap, b.reasonRow, buttonRow([]fyne.CanvasObject{b.deny, b.denyWithReason, b.notNow}, []fyne.CanvasObject{b.next, b.edit, b.allow}))
	b.stepRow = buttonRow([]fyne.CanvasObject{b.back}, []fyne.CanvasObject{b.confirm})
	b.stepRow.Hide()
	return b
}

// setEnabled enables or disables a button.
func setEnabled(b interface {
	Enable()
	Disable()
}, on bool,
) {
	if on {
		b.Enable()
	} else {
		b.Disable()
	}
}

// buttonRow puts buttons at the left and at the right. If they do not fit in one line, the second
// group goes below, and a group that is too wide takes several lines.
func buttonRow(left, right []fyne.CanvasObject) *fyne.Container {
	return container.New(&buttonRowLayout{}, widgets.Flow(style.Gap, left...), widgets.Flow(style.Gap, right...))
}

type buttonRowLayout struct{ below bool } // result of the last layout

// MinSize implements fyne.Layout. Its height is for the width of the last layout.
func (l *buttonRowLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	left, right := o[0].MinSize(), o[1].MinSize()
	height := max(left.Height, right.Height)
	if l.below {
		height = left.Height + style.Gap + right.Height
	}
	return fyne.NewSize(max(left.Width, right.Width), height)
}

// Layout implements fyne.Layout.
func (l *buttonRowLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left, right := min(totalWidth(o[0]), size.Width), min(totalWidth(o[1]), size.Width)
	y := widgets.Fit(o[0], left) + style.Gap
	widgets.Fit(o[1], right)
	if l.below = left+style.Gap+right > size.Width; !l.below {
		y = 0
	}
	o[1].Move(fyne.NewPos(size.Width-right, y))
}

// totalWidth returns the width of the visible buttons of a group in one line.
func totalWidth(group fyne.CanvasObject) (width float32) {
	for _, b := range group.(*fyne.Container).Objects {
		if b.Visible() {
			width += style.Gap + b.MinSize().Width
		}
	}
	return max(width-style.Gap, 0)
}

// newCheck returns a check box that passes key presses to the dialog.
func newCheck(text string, on bool, onKey func(fyne.KeyName) bool, changed func(bool)) *keyCheck {
	c := &keyCheck{onKey: onKey}
	c.Text, c.Checked, c.OnChanged = text, on, changed
	c.ExtendBaseWidget(c)
	return c
}

// newLongCheck returns a check box for a text of any length: a text that is too long for one line
// of a narrow window wraps beside the box.
func newLongCheck(text string, on bool, onKey func(fyne.KeyName) bool, changed func(bool)) (*keyCheck, fyne.CanvasObject) {
	if len(text) <= longText {
		c := newCheck(text, on, onKey, changed)
		return c, c
	}
	c := newCheck("", on, onKey, changed)
	words := widgets.NewParagraph(text, style.ColorText, "text")
	area := widgets.NewTapArea(container.NewWithoutLayout(), func() { c.SetChecked(!c.Checked) })
	return c, container.New(besideCheck{}, c, words, area)
}

// longText is the length in bytes from which a check box's text may need several lines.
const longText = 56

// besideCheck puts a wrapping text beside a check box, and makes the text clickable.
type besideCheck struct{}

func (besideCheck) MinSize(o []fyne.CanvasObject) fyne.Size {
	box, words := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(box.Width+words.Width, max(box.Height, words.Height))
}

func (besideCheck) Layout(o []fyne.CanvasObject, size fyne.Size) {
	box := o[0].MinSize()
	o[0].Resize(box)
	box.Width -= 6 // the padding of a check box after its text
	h := widgets.Fit(o[1], max(size.Width-box.Width, 0))
	o[1].Move(fyne.NewPos(box.Width, max((box.Height-h)/2, 0)))
	o[2].Resize(o[1].Size())
	o[2].Move(o[1].Position())
}

// keyCheck is a check box that passes key presses to its dialog.
type keyCheck struct {
	widget.Check
	onKey func(fyne.KeyName) bool
}

// TypedKey implements fyne.Focusable.
func (c *keyCheck) TypedKey(e *fyne.KeyEvent) {
	if !c.onKey(e.Name) {
		c.Check.TypedKey(e)
	}
}
