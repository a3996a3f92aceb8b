package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// NewEmptyState creates the content of an empty view: an icon, a title, a text, and actions such as
// a button for adding something.
func NewEmptyState(icon, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	parts := []fyne.CanvasObject{}
	if icon != "" {
		i := widget.NewIcon(style.IconIn(icon, style.ColorMuted))
		parts = append(parts, container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(32), i)))
	}
	if title != "" {
		h := NewParagraph(title, style.ColorText, style.SizeTitle)
		h.segment.Style.Alignment, h.segment.Style.TextStyle.Bold = fyne.TextAlignCenter, true
		parts = append(parts, h)
	}
	if text != "" {
		p := NewParagraph(text, style.ColorMuted, "text")
		p.segment.Style.Alignment = fyne.TextAlignCenter
		parts = append(parts, p)
	}
	if len(actions) > 0 {
		parts = append(parts, Inset(style.Inside, 0, 0, 0, container.New(&flowLayout{gap: style.Inside, centre: true}, actions...)))
	}
	return container.New(&emptyLayout{limitLayout{width: emptyWidth}}, Col(style.Inside, parts...))
}

// Widths of an empty state: the maximum, and the minimum width that it requests.
const (
	emptyWidth    float32 = 620
	minEmptyWidth float32 = 320
)

// emptyLayout requests the space that the text needs: by themselves, truncating headings and
// wrapping texts request almost none.
type emptyLayout struct{ limitLayout }

func (l *emptyLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	if o[0].Size().Width <= 0 {
		Fit(o[0], minEmptyWidth)
	}
	m := o[0].MinSize()
	return fyne.NewSize(max(m.Width, min(o[0].Size().Width, minEmptyWidth)), m.Height)
}
