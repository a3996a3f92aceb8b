package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/look"
)

// NewPage is a page of the main window: its name with what can be done at the right, and below it the body, which has the rest of the height.
func NewPage(title string, body fyne.CanvasObject, actions ...fyne.CanvasObject) fyne.CanvasObject {
	name := NewHeading(title, look.SizeTitle)
	name.Ellipsis = true
	head := Row(look.Inside, 0, append([]fyne.CanvasObject{name}, actions...)...)
	return Inset(look.Group, look.Page, 0, look.Page, container.NewBorder(Inset(0, 0, look.Group, 0, head), nil, nil, nil, body))
}

// NewForm is the body of a page that is read from top to bottom and scrolls.
func NewForm(rows ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewVScroll(Inset(0, look.Inside, look.Page, 0, Limit(720, true, Col(look.Group, rows...))))
}

// NewField is something to fill in under its name.
func NewField(name string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return Col(look.Gap, append([]fyne.CanvasObject{NewText(name, look.ColorMuted, look.SizeSmall)}, rows...)...)
}

// NewPart is the small heading of a part of a page.
func NewPart(title string) fyne.CanvasObject {
	t := NewText(title, look.ColorMuted, look.SizeSmall)
	t.Style.Bold, t.Ellipsis = true, true
	return Inset(look.Inside, 0, 0, 0, t)
}
