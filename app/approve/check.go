package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

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
	area := &tapArea{onTap: func() { c.SetChecked(!c.Checked) }}
	area.ExtendBaseWidget(area)
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

// tapArea handles clicks on the object below it.
type tapArea struct {
	widget.BaseWidget
	onTap func()
}

// Tapped implements fyne.Tappable.
func (a *tapArea) Tapped(*fyne.PointEvent) { a.onTap() }

// CreateRenderer implements fyne.Widget.
func (a *tapArea) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}
