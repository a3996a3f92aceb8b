package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/style"
)

// HoverText shows a short text, such as a time, and the full one while the mouse is over it.
type HoverText struct {
	Text
	brief, full string
}

// NewHoverText creates an empty, muted one.
func NewHoverText() *HoverText {
	h := &HoverText{Text: Text{Color: style.ColorMuted, SizeName: style.SizeSmall}}
	h.ExtendBaseWidget(h)
	return h
}

// Set changes the texts. An empty full text changes nothing while the mouse is over it.
func (h *HoverText) Set(brief, full string, color fyne.ThemeColorName) {
	h.brief, h.full = brief, full
	h.Text.Set(brief, color)
}

// MouseIn implements desktop.Hoverable.
func (h *HoverText) MouseIn(*desktop.MouseEvent) {
	if h.full != "" {
		h.SetText(h.full)
	}
}

// MouseMoved implements desktop.Hoverable.
func (h *HoverText) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (h *HoverText) MouseOut() { h.SetText(h.brief) }
