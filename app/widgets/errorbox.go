package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Problem is the content of an [ErrorBox]: what happened, what it means or what to do, and a button
// for that.
type Problem struct {
	What   string
	Do     string
	Button string // empty for none
	Again  bool   // shows a second button, which retries the failed action
	// Fine marks a state that is no error: the person only has to wait.
	Fine bool
}

// ErrorBox shows a problem.
type ErrorBox struct {
	widget.BaseWidget
	OnButton func()
	OnAgain  func()
	what, do *Paragraph
	icon     *widget.Icon
	edge     *Rect
	fine     bool
	button   *Button
	again    *Button
	foot     *fyne.Container
	box      *fyne.Container
}

// NewErrorBox creates a box.
func NewErrorBox(p Problem, onButton func()) *ErrorBox {
	b := &ErrorBox{OnButton: onButton, what: NewParagraph("", style.ColorText, "text"), do: NewParagraph("", style.ColorMuted, "text")}
	b.button = NewButton("", "", func() { Call(b.OnButton) })
	b.again = NewQuiet("Try again", "", func() { Call(b.OnAgain) })
	b.foot = Row(style.Inside, 0, layout.NewSpacer(), b.again, b.button)
	b.icon = widget.NewIcon(style.IconIn("warning", style.ColorBad))
	b.edge = NewRect(style.ColorBad, "", 2)
	b.edge.SetMinSize(fyne.NewSize(3, 0))
	text := Lead("text", 0, b.icon, Col(style.Gap, b.what, b.do, b.foot))
	b.box = container.NewStack(NewRect(style.ColorSurface, style.ColorLine, style.Corner), Border(nil, nil, b.edge, nil, Inset(8, 10, 8, 10, text)))
	b.ExtendBaseWidget(b)
	b.Set(p)
	return b
}

// Set shows another problem.
func (b *ErrorBox) Set(p Problem) {
	b.what.Set(p.What, style.ColorText)
	b.do.Set(p.Do, style.ColorMuted)
	if p.Fine != b.fine {
		b.fine = p.Fine
		icon, color := "warning", style.ColorBad
		if p.Fine {
			icon, color = "info", style.ColorAccent
		}
		SetIcon(b.icon, icon, color)
		b.edge.SetFill(color)
	}
	b.button.SetText(p.Button)
	SetVisible(b.do, p.Do != "")
	SetVisible(b.again, p.Again)
	SetVisible(b.foot, p.Button != "")
	if b.Size().Width > 0 {
		Relayout(b.box)
	}
}

// CreateRenderer implements fyne.Widget.
func (b *ErrorBox) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(b.box) }
