package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// labelledValue is a label with a value, and buttons at the right.
func labelledValue(name string, value fyne.CanvasObject, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	widgets.NameControls(name, value)
	objects := []fyne.CanvasObject{widgets.NewText(name, style.ColorMuted, "text"), value}
	if len(buttons) > 0 {
		objects = append(objects, widgets.Row(style.Inside, -1, buttons...))
	}
	return container.New(&labelledLayout{}, objects...)
}

// labelledLayout puts the label before the value in a column of its own, or above it if the page is
// too narrow for two columns. That depends only on the page's width, so that all facts of a page
// look alike.
type labelledLayout struct {
	above bool // result of the last layout
}

// twoColumnsWidth is the minimum page width for two columns, at the default text size.
const twoColumnsWidth float32 = 480

func labelWidth() float32 { return max(140, 116*style.Size("text")/14) }

func (l *labelledLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	name, value := o[0].MinSize(), o[1].MinSize()
	var right fyne.Size
	if len(o) > 2 {
		right = o[2].MinSize().AddWidthHeight(style.Gap, 0)
	}
	if l.above {
		return fyne.NewSize(max(name.Width, value.Width+right.Width), name.Height+spaceBelowLabel(o[1])+max(value.Height, right.Height))
	}
	return fyne.NewSize(labelWidth()+style.Gap+theme.InnerPadding()+value.Width+right.Width, max(name.Height+2*style.Inside, value.Height, right.Height))
}

// spaceBelowLabel is the space between a label and the value below it.
func spaceBelowLabel(value fyne.CanvasObject) float32 {
	if _, label := value.(*widget.Label); label {
		return 0
	}
	return style.Gap
}

func (l *labelledLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	l.above = size.Width < twoColumnsWidth*style.Size("text")/14
	name := o[0].MinSize().Height
	left, top := labelWidth()+style.Gap+theme.InnerPadding(), float32(0)
	o[0].Resize(fyne.NewSize(labelWidth(), name))
	o[0].Move(fyne.NewPos(0, theme.InnerPadding()))
	if l.above {
		left, top = 0, name+spaceBelowLabel(o[1])
		o[0].Resize(fyne.NewSize(size.Width, name))
		o[0].Move(fyne.Position{})
	}
	if _, isLabel := o[1].(*widget.Label); isLabel {
		left -= theme.InnerPadding() // its text is inset by that
	}
	right := size.Width
	if len(o) > 2 {
		b := o[2].MinSize()
		o[2].Resize(b)
		o[2].Move(fyne.NewPos(right-b.Width, top+(size.Height-top-b.Height)/2))
		right -= b.Width + style.Gap
	}
	o[1].Move(fyne.NewPos(left, top))
	o[1].Resize(fyne.NewSize(max(right-left, 0), size.Height-top))
}
