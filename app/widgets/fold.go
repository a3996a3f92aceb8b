package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Fold is a line that expands to a longer text, such as a model's thinking.
type Fold struct {
	widget.BaseWidget
	OnToggle func(open bool)
	// OnPress is called when a mouse button is pressed in the text; see [Transcript.Press].
	OnPress func(in Passage, at, times int)
	OnMenu  func(at fyne.Position)

	open  bool
	said  string // the text
	title *Text
	icon  *widget.Icon
	fold  *widget.Icon
	text  *Prose
	shown string // displayed text: nothing is laid out while collapsed
	body  *fyne.Container
	box   *fyne.Container
}

// NewFold creates an empty, collapsed line with an icon.
func NewFold(icon string) *Fold {
	f := &Fold{
		title: NewText("", style.ColorMuted, style.SizeSidebar), icon: widget.NewIcon(style.IconIn(icon, style.ColorMuted)),
		fold: widget.NewIcon(style.IconIn("right", style.ColorMuted)), text: NewProse(),
	}
	f.text.OnPress = func(at, times int) {
		if f.OnPress != nil {
			f.OnPress(f.text, at, times)
		}
	}
	f.text.OnMenu = func(at fyne.Position) {
		if f.OnMenu != nil {
			f.OnMenu(at)
		}
	}
	head := NewPress(Inset(2, style.Inside, 2, 0, Row(6, -1, f.icon, f.title, f.fold)), func() {
		f.Set(f.title.Text, f.said, !f.open)
		if f.OnToggle != nil {
			f.OnToggle(f.open)
		}
	})
	rule := NewRect(style.ColorLine, "", 1)
	rule.SetMinSize(fyne.NewSize(2, 0))
	f.body = Inset(style.Gap, 0, style.Gap, 7, Border(nil, nil, rule, nil, Inset(0, 0, 0, style.Inside+2, Readable(f.text))))
	f.body.Hide()
	f.text.Hide()
	f.box = Col(0, Row(0, -1, head), f.body)
	f.ExtendBaseWidget(f)
	return f
}

// Set sets the title and the text, which is shown if open.
func (f *Fold) Set(title, text string, open bool) {
	f.title.SetText(title)
	f.said = text
	if open && text != f.shown {
		f.shown = text
		f.text.SetPlain(text, style.ColorMuted, style.SizeSidebar)
	}
	if open != f.open {
		f.open = open
		name := "right"
		if open {
			name = "down"
		}
		f.fold.SetResource(style.IconIn(name, style.ColorMuted))
		show(f.body, open)
		show(f.text, open)
	}
	if s := f.Size(); s.Width > 0 {
		relayout(f.box)
	}
}

// CreateRenderer implements fyne.Widget.
func (f *Fold) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(f.box) }

// Passages returns its text, which is hidden while collapsed.
func (f *Fold) Passages() []Passage { return []Passage{f.text} }
