package transcript

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Notice is a muted, centred line with an icon in a transcript, such as "stopped".
type Notice struct {
	widget.BaseWidget
	OnButton func()
	icon     *widget.Icon
	text     *widgets.Paragraph
	button   *widgets.Button
	box      *fyne.Container
	name     string
}

// NewNotice creates an empty notice.
func NewNotice() *Notice {
	n := &Notice{icon: widget.NewIcon(nil), text: widgets.NewParagraph("", style.ColorMuted, style.SizeSidebar)}
	n.button = widgets.NewQuietButton("", "", func() { widgets.Call(n.OnButton) })
	n.button.Small = true
	n.box = widgets.WithIcon(style.SizeSidebar, 3, n.icon, n.text, n.button)
	n.ExtendBaseWidget(n)
	return n
}

// Set shows a notice; an empty button text hides the button.
func (n *Notice) Set(icon, text, button string) {
	if icon != n.name {
		n.name = icon
		widgets.SetIcon(n.icon, icon, style.ColorMuted)
	}
	n.text.Set(text, style.ColorMuted)
	n.button.SetText(button)
	widgets.SetVisible(n.button, button != "")
	if n.Size().Width > 0 {
		widgets.Relayout(n.box)
	}
}

// CreateRenderer implements fyne.Widget.
func (n *Notice) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(n.box) }
