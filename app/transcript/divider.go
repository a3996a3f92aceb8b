package transcript

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Divider is a text in the middle of a separator, such as the date in a chat.
type Divider struct {
	widget.BaseWidget
	text  *widgets.Text
	left  *widgets.Rect
	right *widgets.Rect
}

// NewDivider creates one without a text.
func NewDivider() *Divider {
	d := &Divider{text: widgets.NewText("", style.ColorMuted, style.SizeSmall), left: widgets.NewRect(style.ColorLine, "", 0), right: widgets.NewRect(style.ColorLine, "", 0)}
	d.ExtendBaseWidget(d)
	return d
}

// SetText changes the text.
func (d *Divider) SetText(text string) {
	d.text.SetText(text)
	d.place(d.Size())
}

func (d *Divider) place(size fyne.Size) {
	m := d.text.MinSize()
	x := float32(int((size.Width - m.Width) / 2))
	d.text.Resize(m)
	d.text.Move(fyne.NewPos(x, float32(int((size.Height-m.Height)/2))))
	side := max(x-12, 0)
	y := float32(int(size.Height / 2))
	d.left.Resize(fyne.NewSize(side, 1))
	d.left.Move(fyne.NewPos(0, y))
	d.right.Resize(fyne.NewSize(side, 1))
	d.right.Move(fyne.NewPos(size.Width-side, y))
}

// CreateRenderer implements fyne.Widget.
func (d *Divider) CreateRenderer() fyne.WidgetRenderer { return &dividerRenderer{d} }

type dividerRenderer struct{ d *Divider }

func (r *dividerRenderer) MinSize() fyne.Size {
	return r.d.text.MinSize().AddWidthHeight(48, style.Inside)
}
func (r *dividerRenderer) Layout(size fyne.Size) { r.d.place(size) }
func (r *dividerRenderer) Refresh() {
	for _, o := range r.Objects() {
		o.Refresh()
	}
	r.d.place(r.d.Size())
}

func (r *dividerRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.d.left, r.d.text, r.d.right}
}
func (r *dividerRenderer) Destroy() {}
