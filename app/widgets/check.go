package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"fairlead/app/style"
)

// Check is a check box whose label wraps, unlike that of Fyne, which a narrow window cuts off.
type Check struct {
	Composite
	Label string
	Box   *CheckBox
	text  *Paragraph
}

// NewCheck creates a check box with rows below its label. changed is called after each change; it
// may be nil.
func NewCheck(label string, changed func(on bool), rows ...fyne.CanvasObject) *Check {
	c := &Check{Label: label, Box: NewCheckBox("", changed), text: NewParagraph(label, style.ColorText, "text")}
	c.Box.Name = label
	tap := NewTapArea(c.text, func() { c.Box.Tapped(&fyne.PointEvent{}) })
	c.Compose(c, container.New(&checkLayout{}, c.Box, Col(2, append([]fyne.CanvasObject{tap}, rows...)...)))
	return c
}

// Set shows whether it is checked, without calling the function for changes.
func (c *Check) Set(on bool) {
	changed := c.Box.OnChanged
	c.Box.OnChanged = nil
	c.Box.SetChecked(on)
	c.Box.OnChanged = changed
}

// Disable makes it unchangeable.
func (c *Check) Disable() {
	c.Box.Disable()
	c.text.Set(c.Label, style.ColorMuted)
}

// checkLayout puts a check box beside the first line of its text.
type checkLayout struct{}

// checkTop is the space above and below the text.
const checkTop = 6

// textLeft is where the text begins: at the place of the label of a Fyne check box.
func (checkLayout) textLeft() float32 {
	return iconSize() + theme.InnerPadding() + 2*theme.InputBorderSize()
}

func (l checkLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return o[1].MinSize().AddWidthHeight(l.textLeft(), 2*checkTop)
}

func (l checkLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	line := fyne.MeasureText("M", style.Size(theme.SizeNameText), fyne.TextStyle{}).Height
	box := o[0].MinSize()
	o[0].Resize(fyne.NewSize(l.textLeft(), box.Height))
	o[0].Move(fyne.NewPos(0, checkTop+(line-box.Height)/2))
	o[1].Move(fyne.NewPos(l.textLeft(), checkTop))
	Fit(o[1], max(size.Width-l.textLeft(), 0))
}
