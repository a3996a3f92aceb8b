package widgets

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Badge is a count on a coloured background. Zero hides it.
type Badge struct {
	widget.BaseWidget
	text *Text
	box  *fyne.Container
}

// NewBadge creates a badge in the *needs you* colour.
func NewBadge(n int) *Badge {
	b := &Badge{text: NewText("", style.ColorOnNeeds, style.SizeSmall)}
	b.text.Style.Bold, b.text.Align = true, fyne.TextAlignCenter
	b.box = container.New(badgeLayout{}, NewRect(style.ColorNeedsYou, "", canvas.RadiusMaximum), b.text)
	b.ExtendBaseWidget(b)
	b.Set(n)
	return b
}

// Set changes the count; from 100 on it shows 99+.
func (b *Badge) Set(n int) {
	text := fmt.Sprint(n)
	if n > 99 {
		text = "99+"
	}
	b.text.SetText(text)
	SetVisible(b, n > 0)
}

// badgeLayout centres a text on its background, which is at least as wide as high.
type badgeLayout struct{}

func (badgeLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[1].MinSize()
	return fyne.NewSize(max(m.Width+6, m.Height+2, 18), max(m.Height, 16))
}

func (badgeLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(size)
	o[1].Resize(size)
}

// CreateRenderer implements fyne.Widget.
func (b *Badge) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(b.box) }
