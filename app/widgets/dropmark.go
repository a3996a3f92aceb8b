package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// DropMark highlights where files go that are dragged over a window, and says what a drop does. Its
// Box has the size of the window's content. It belongs to the GUI thread.
type DropMark struct {
	Box   *fyne.Container
	frame *Rect
	text  *Text
	label *fyne.Container
}

// NewDropMark creates a hidden mark.
func NewDropMark() *DropMark {
	m := &DropMark{frame: NewRect("", style.ColorAccent, style.Corner), text: NewText("", style.ColorText, "text")}
	m.label = container.NewStack(NewRect("menuBackground", style.ColorAccent, style.Corner), Inset(style.Inside, style.Group, style.Inside, style.Group, m.text))
	m.Box = container.NewWithoutLayout(m.frame, m.label)
	m.Box.Hide()
	return m
}

// Show highlights an area, unless that highlights itself, and says what a drop does there. The text
// is in the middle of the area, or below a low one.
func (m *DropMark) Show(area fyne.CanvasObject, text string, isMarked bool) {
	driver := fyne.CurrentApp().Driver()
	at, size := driver.AbsolutePositionForObject(area).Subtract(driver.AbsolutePositionForObject(m.Box)), area.Size()
	SetVisible(m.frame, !isMarked)
	m.frame.Move(at)
	m.frame.Resize(size)
	m.text.SetText(text)
	label := m.label.MinSize()
	m.label.Resize(label)
	y := at.Y + float32(int((size.Height-label.Height)/2))
	if size.Height < 2*label.Height {
		y = at.Y + size.Height + style.Gap
	}
	x := at.X + float32(int((size.Width-label.Width)/2))
	m.label.Move(fyne.NewPos(max(x, style.Gap), y))
	m.Box.Show()
	m.Box.Refresh()
}

// Shown returns the highlighted frame, the label and its text; ok is false while the mark is hidden.
func (m *DropMark) Shown() (frame, label fyne.CanvasObject, text string, ok bool) {
	return m.frame, m.label, m.text.Text, m.Box.Visible()
}
