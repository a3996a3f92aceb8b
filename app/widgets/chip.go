package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// NewChip creates a rounded button with a short text.
func NewChip(text, icon string, onTap func()) *Clickable {
	line := Row(6, -1, NewText(text, style.ColorText, "text"))
	if icon != "" {
		line.Objects = append([]fyne.CanvasObject{widget.NewIcon(style.IconIn(icon, style.ColorMuted))}, line.Objects...)
	}
	p := NewClickable(container.NewStack(NewRect("", style.ColorLine, 14), Inset(6, 12, 6, 12, line)), onTap)
	p.background.Corner = 14
	p.SetBackground(style.ColorSurface)
	return p
}
