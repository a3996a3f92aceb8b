package widgets

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// NewChip creates a rounded button with a short text.
func NewChip(text, icon string, onTap func()) *Press {
	line := Row(6, -1, NewText(text, style.ColorText, "text"))
	if icon != "" {
		line.Objects = append([]fyne.CanvasObject{widget.NewIcon(style.IconIn(icon, style.ColorMuted))}, line.Objects...)
	}
	p := NewPress(container.NewStack(NewRect("", style.ColorLine, 14), Inset(6, 12, 6, 12, line)), onTap)
	p.ground.Corner = 14
	p.SetGround(style.ColorSurface)
	return p
}

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
	show(b, n > 0)
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
	emptyWidth      float32 = 620
	emptyWidthLeast float32 = 320
)

// emptyLayout requests the space that the text needs: by themselves, truncating headings and
// wrapping texts request almost none.
type emptyLayout struct{ limitLayout }

func (l *emptyLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	if o[0].Size().Width <= 0 {
		Fit(o[0], emptyWidthLeast)
	}
	m := o[0].MinSize()
	return fyne.NewSize(max(m.Width, min(o[0].Size().Width, emptyWidthLeast)), m.Height)
}

// Flow lays out objects like words, in lines from left to right.
func Flow(gap float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&flowLayout{gap: gap}, objects...)
}

type flowLayout struct {
	gap    float32
	centre bool
	height float32 // at the width of the last layout
}

func (l *flowLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, o := range objects {
		if o.Visible() {
			s = s.Max(o.MinSize())
		}
	}
	return fyne.NewSize(s.Width, max(s.Height, l.height))
}

func (l *flowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var line []fyne.CanvasObject
	width, high, y := float32(0), float32(0), float32(0)
	flush := func() {
		x := float32(0)
		if l.centre {
			x = (size.Width - width) / 2
		}
		for _, o := range line {
			m := o.MinSize()
			o.Resize(fyne.NewSize(min(m.Width, size.Width), m.Height))
			o.Move(fyne.NewPos(x, y+(high-m.Height)/2))
			x += m.Width + l.gap
		}
		if len(line) > 0 {
			y += high + l.gap
		}
		line, width, high = nil, 0, 0
	}
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		if len(line) > 0 && width+l.gap+m.Width > size.Width {
			flush()
		}
		if len(line) > 0 {
			width += l.gap
		}
		width += m.Width
		high = max(high, m.Height)
		line = append(line, o)
	}
	flush()
	l.height = max(y-l.gap, 0)
}

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
	b.button = NewButton("", "", func() { call(b.OnButton) })
	b.again = NewQuiet("Try again", "", func() { call(b.OnAgain) })
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
		setIcon(b.icon, icon, color)
		b.edge.SetFill(color)
	}
	b.button.SetText(p.Button)
	show(b.do, p.Do != "")
	show(b.again, p.Again)
	show(b.foot, p.Button != "")
	if b.Size().Width > 0 {
		relayout(b.box)
	}
}

// CreateRenderer implements fyne.Widget.
func (b *ErrorBox) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(b.box) }

// Notice is a muted, centred line with an icon in a transcript, such as "stopped".
type Notice struct {
	widget.BaseWidget
	OnButton func()
	icon     *widget.Icon
	text     *Paragraph
	button   *Button
	box      *fyne.Container
	name     string
}

// NewNotice creates an empty notice.
func NewNotice() *Notice {
	n := &Notice{icon: widget.NewIcon(nil), text: NewParagraph("", style.ColorMuted, style.SizeSidebar)}
	n.button = NewQuiet("", "", func() { call(n.OnButton) })
	n.button.Small = true
	n.box = Lead(style.SizeSidebar, 3, n.icon, n.text, n.button)
	n.ExtendBaseWidget(n)
	return n
}

// Set shows a notice; an empty button text hides the button.
func (n *Notice) Set(icon, text, button string) {
	if icon != n.name {
		n.name = icon
		setIcon(n.icon, icon, style.ColorMuted)
	}
	n.text.Set(text, style.ColorMuted)
	n.button.SetText(button)
	show(n.button, button != "")
	if n.Size().Width > 0 {
		relayout(n.box)
	}
}

// CreateRenderer implements fyne.Widget.
func (n *Notice) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(n.box) }
