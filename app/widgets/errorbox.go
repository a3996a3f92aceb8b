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
	Title    string
	Advice   string
	Button   string // empty for none
	CanRetry bool   // shows a second button, which retries the failed action
	// IsInfo marks a state that is no error: the person only has to wait.
	IsInfo bool
}

// ErrorBox shows a problem.
type ErrorBox struct {
	widget.BaseWidget
	OnButton      func()
	OnRetry       func()
	title, advice *Paragraph
	icon          *widget.Icon
	edge          *Rect
	isInfo        bool
	button        *Button
	retry         *Button
	foot          *fyne.Container
	box           *fyne.Container
}

// NewErrorBox creates a box.
func NewErrorBox(p Problem, onButton func()) *ErrorBox {
	b := &ErrorBox{OnButton: onButton, title: NewParagraph("", style.ColorText, "text"), advice: NewParagraph("", style.ColorMuted, "text")}
	b.button = NewButton("", "", func() { Call(b.OnButton) })
	b.retry = NewQuietButton("Try again", "", func() { Call(b.OnRetry) })
	b.foot = Row(style.Inside, 0, layout.NewSpacer(), b.retry, b.button)
	b.icon = widget.NewIcon(style.IconIn("warning", style.ColorBad))
	b.edge = NewRect(style.ColorBad, "", 2)
	b.edge.SetMinSize(fyne.NewSize(3, 0))
	text := WithIcon("text", 0, b.icon, Col(style.Gap, b.title, b.advice, b.foot))
	b.box = container.NewStack(NewRect(style.ColorSurface, style.ColorLine, style.Corner), Border(nil, nil, b.edge, nil, Inset(8, 10, 8, 10, text)))
	b.ExtendBaseWidget(b)
	b.Set(p)
	return b
}

// Set shows another problem.
func (b *ErrorBox) Set(p Problem) {
	b.title.Set(p.Title, style.ColorText)
	b.advice.Set(p.Advice, style.ColorMuted)
	if p.IsInfo != b.isInfo {
		b.isInfo = p.IsInfo
		icon, color := "warning", style.ColorBad
		if p.IsInfo {
			icon, color = "info", style.ColorAccent
		}
		SetIcon(b.icon, icon, color)
		b.edge.SetFill(color)
	}
	b.button.SetText(p.Button)
	SetVisible(b.advice, p.Advice != "")
	SetVisible(b.retry, p.CanRetry)
	SetVisible(b.foot, p.Button != "")
	if b.Size().Width > 0 {
		Relayout(b.box)
	}
}

// CreateRenderer implements fyne.Widget.
func (b *ErrorBox) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(b.box) }
