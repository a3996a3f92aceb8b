package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// NewFold creates content that a button above it shows and hides; it is hidden at first. The button
// calls onToggle, which may be nil, after that.
func NewFold(title string, content fyne.CanvasObject, onToggle func()) *fyne.Container {
	box := container.NewStack(content)
	box.Hide()
	button := NewQuietButton(title, "right", nil)
	fold := Col(style.Group, Inset(0, 0, 0, -style.Inside, Row(style.Inside, -1, button)), box) // the icon aligns with the content
	button.OnTap = func() {
		SetVisible(box, !box.Visible())
		button.Set(title, Choose(box.Visible(), "down", "right"))
		fold.Refresh()
		Call(onToggle)
	}
	return fold
}
