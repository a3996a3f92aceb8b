package transcript

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/markdown"
	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Expander is a line that expands to a longer text, such as a model's thinking.
type Expander struct {
	widgets.Composite
	selection.Events
	OnToggle func(open bool)

	open     bool
	text     string // the text
	title    *widgets.Text
	icon     *widget.Icon
	arrow    *widget.Icon
	body     *markdown.RichText
	bodyText string // displayed text: nothing is laid out while collapsed
	bodyBox  *fyne.Container
}

// NewExpander creates an empty, collapsed line with an icon.
func NewExpander(icon string) *Expander {
	f := &Expander{
		title: widgets.NewText("", style.ColorMuted, style.SizeSidebar), icon: widget.NewIcon(style.IconIn(icon, style.ColorMuted)),
		arrow: widget.NewIcon(style.IconIn("right", style.ColorMuted)), body: markdown.NewRichText(),
	}
	f.body.Events = &f.Events
	head := widgets.NewClickable(widgets.Inset(2, style.Inside, 2, 0, widgets.Row(6, -1, f.icon, f.title, f.arrow)), func() {
		f.Set(f.title.Text, f.text, !f.open)
		widgets.CallWith(f.OnToggle, f.open)
	})
	rule := widgets.NewRect(style.ColorLine, "", 1)
	rule.SetMinSize(fyne.NewSize(2, 0))
	f.bodyBox = widgets.Inset(style.Gap, 0, style.Gap, 7, widgets.Border(nil, nil, rule, nil, widgets.Inset(0, 0, 0, style.Inside+2, f.body)))
	f.bodyBox.Hide()
	f.body.Hide()
	f.Compose(f, widgets.Col(0, widgets.Row(0, -1, head), f.bodyBox))
	return f
}

// Set sets the title and the text, which is shown if open.
func (f *Expander) Set(title, text string, open bool) {
	f.title.SetText(title)
	f.text = text
	if open && text != f.bodyText {
		f.bodyText = text
		f.body.SetPlain(text, style.ColorMuted, style.SizeSidebar)
	}
	if open != f.open {
		f.open = open
		widgets.SetIcon(f.arrow, widgets.Choose(open, "down", "right"), style.ColorMuted)
		widgets.SetVisible(f.bodyBox, open)
		widgets.SetVisible(f.body, open)
	}
	f.LayOut()
}

// Passages returns its text, which is hidden while collapsed.
func (f *Expander) Passages() []selection.Passage { return []selection.Passage{f.body} }

// Notice is a muted, centred line with an icon in a transcript, such as "stopped".
type Notice struct {
	widgets.Composite
	OnButton func()
	icon     *widget.Icon
	text     *widgets.Paragraph
	button   *widgets.Button
}

// NewNotice creates an empty notice.
func NewNotice() *Notice {
	n := &Notice{icon: widget.NewIcon(nil), text: widgets.NewParagraph("", style.ColorMuted, style.SizeSidebar)}
	n.button = widgets.NewQuietButton("", "", func() { widgets.Call(n.OnButton) })
	n.button.Small = true
	n.Compose(n, widgets.WithIcon(style.SizeSidebar, 3, n.icon, n.text, n.button))
	return n
}

// Set shows a notice; an empty button text hides the button.
func (n *Notice) Set(icon, text, button string) {
	widgets.SetIcon(n.icon, icon, style.ColorMuted)
	n.text.Set(text, style.ColorMuted)
	n.button.SetText(button)
	widgets.SetVisible(n.button, button != "")
	n.LayOut()
}

// Divider is a text in the middle of a separator, such as the date in a chat.
type Divider struct {
	widgets.Composite
	text *widgets.Text
}

// NewDivider creates one without a text.
func NewDivider() *Divider {
	d := &Divider{text: widgets.NewText("", style.ColorMuted, style.SizeSmall)}
	d.Compose(d, container.New(dividerLayout{}, widgets.HLine(), d.text, widgets.HLine()))
	return d
}

// SetText changes the text.
func (d *Divider) SetText(text string) {
	d.text.SetText(text)
	d.Refresh()
}

// dividerLayout puts a text between two lines.
type dividerLayout struct{}

func (dividerLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return o[1].MinSize().AddWidthHeight(48, style.Inside)
}

func (dividerLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	m := o[1].MinSize()
	x, y := float32(int((size.Width-m.Width)/2)), float32(int(size.Height/2))
	o[1].Resize(m)
	o[1].Move(fyne.NewPos(x, float32(int((size.Height-m.Height)/2))))
	side := max(x-12, 0)
	o[0].Resize(fyne.NewSize(side, 1))
	o[0].Move(fyne.NewPos(0, y))
	o[2].Resize(fyne.NewSize(side, 1))
	o[2].Move(fyne.NewPos(size.Width-side, y))
}

// Unreadable is the icon in the place of a picture that cannot be shown.
type Unreadable struct {
	fyne.Resource
	Data []byte // of the picture
}

// NewThumbnail shows a picture of at most 160 by 120; a tap opens it. For an [Unreadable] one, it
// says so, with a button.
func NewThumbnail(r fyne.Resource, onTap func()) fyne.CanvasObject {
	if _, ok := r.(*Unreadable); ok {
		text := widgets.NewText("This picture cannot be shown.", style.ColorMuted, style.SizeSmall)
		return widgets.Row(style.Inside, -1, widget.NewIcon(r), text, widgets.NewQuietButton("Save", "export", onTap))
	}
	img := canvas.NewImageFromResource(r)
	img.FillMode = canvas.ImageFillContain
	img.SetMinSize(fyne.NewSize(160, 120))
	p := widgets.NewClickable(widgets.Inset(4, 4, 4, 4, img), onTap)
	p.Name = "Open the picture"
	p.SetBackground(style.ColorCode)
	return p
}
