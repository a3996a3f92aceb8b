package chat

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// maxHintWidth is the width of the hint, at the normal text size.
const maxHintWidth = 380

// hint is an explanation above the right end of the composer, while the mouse is over what it
// explains.
type hint struct {
	text *widgets.Paragraph
	box  *fyne.Container
}

func newHint() *hint {
	h := &hint{text: widgets.NewParagraph("", style.ColorText, style.SizeSidebar)}
	h.box = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner), widgets.Inset(style.Inside, 12, style.Inside, 12, h.text))
	h.box.Hide()
	return h
}

// set shows a text; an empty one hides the hint.
func (h *hint) set(text string) {
	h.text.Set(text, style.ColorText)
	widgets.SetVisible(h.box, text != "")
}

// layOut places the hint above a line of the pane.
func (h *hint) layOut(x, bottom, width float32) {
	if !h.box.Visible() {
		return
	}
	w := min(width, maxHintWidth*style.Size("text")/14)
	height := widgets.Fit(h.box, w)
	h.box.Move(fyne.NewPos(x+width-w, bottom-height-style.Inside))
}

// hoverText is a text that reports the mouse.
type hoverText struct {
	widgets.Text
	onHover func(bool)
}

func newHoverText(color fyne.ThemeColorName, size fyne.ThemeSizeName) *hoverText {
	t := &hoverText{Text: widgets.Text{Color: color, SizeName: size}}
	t.ExtendBaseWidget(t)
	return t
}

// MouseIn implements desktop.Hoverable.
func (t *hoverText) MouseIn(*desktop.MouseEvent) { t.onHover(true) }

// MouseMoved implements desktop.Hoverable.
func (t *hoverText) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (t *hoverText) MouseOut() { t.onHover(false) }
