package transcript

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/markdown"
	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Expander is a line that expands to a longer text, such as a model's thinking.
type Expander struct {
	widget.BaseWidget
	OnToggle func(open bool)
	// OnPress is called when a mouse button is pressed in the text; see [View.Press].
	OnPress func(in selection.Passage, at, times int)
	OnMenu  func(at fyne.Position)

	open    bool
	text    string // the text
	title   *widgets.Text
	icon    *widget.Icon
	arrow   *widget.Icon
	body    *markdown.RichText
	shown   string // displayed text: nothing is laid out while collapsed
	bodyBox *fyne.Container
	box     *fyne.Container
}

// NewExpander creates an empty, collapsed line with an icon.
func NewExpander(icon string) *Expander {
	f := &Expander{
		title: widgets.NewText("", style.ColorMuted, style.SizeSidebar), icon: widget.NewIcon(style.IconIn(icon, style.ColorMuted)),
		arrow: widget.NewIcon(style.IconIn("right", style.ColorMuted)), body: markdown.NewRichText(),
	}
	f.body.OnPress = func(at, times int) {
		if f.OnPress != nil {
			f.OnPress(f.body, at, times)
		}
	}
	f.body.OnMenu = func(at fyne.Position) {
		if f.OnMenu != nil {
			f.OnMenu(at)
		}
	}
	head := widgets.NewClickable(widgets.Inset(2, style.Inside, 2, 0, widgets.Row(6, -1, f.icon, f.title, f.arrow)), func() {
		f.Set(f.title.Text, f.text, !f.open)
		if f.OnToggle != nil {
			f.OnToggle(f.open)
		}
	})
	rule := widgets.NewRect(style.ColorLine, "", 1)
	rule.SetMinSize(fyne.NewSize(2, 0))
	f.bodyBox = widgets.Inset(style.Gap, 0, style.Gap, 7, widgets.Border(nil, nil, rule, nil, widgets.Inset(0, 0, 0, style.Inside+2, widgets.LimitLineLength(f.body))))
	f.bodyBox.Hide()
	f.body.Hide()
	f.box = widgets.Col(0, widgets.Row(0, -1, head), f.bodyBox)
	f.ExtendBaseWidget(f)
	return f
}

// Set sets the title and the text, which is shown if open.
func (f *Expander) Set(title, text string, open bool) {
	f.title.SetText(title)
	f.text = text
	if open && text != f.shown {
		f.shown = text
		f.body.SetPlain(text, style.ColorMuted, style.SizeSidebar)
	}
	if open != f.open {
		f.open = open
		name := "right"
		if open {
			name = "down"
		}
		f.arrow.SetResource(style.IconIn(name, style.ColorMuted))
		widgets.SetVisible(f.bodyBox, open)
		widgets.SetVisible(f.body, open)
	}
	if s := f.Size(); s.Width > 0 {
		widgets.Relayout(f.box)
	}
}

// CreateRenderer implements fyne.Widget.
func (f *Expander) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(f.box) }

// Passages returns its text, which is hidden while collapsed.
func (f *Expander) Passages() []selection.Passage { return []selection.Passage{f.body} }
