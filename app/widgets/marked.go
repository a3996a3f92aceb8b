package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// The characters around a highlighted part of a [MarkedText].
const (
	MarkStart = "\x02"
	MarkEnd   = "\x03"
)

// MarkedText is one line of text with highlighted parts, cut to the available width.
type MarkedText struct {
	widget.BaseWidget
	text  string
	color fyne.ThemeColorName
	size  fyne.ThemeSizeName
}

// NewMarkedText creates a line.
func NewMarkedText(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) *MarkedText {
	m := &MarkedText{text: text, color: color, size: size}
	m.ExtendBaseWidget(m)
	return m
}

// Set changes text and colour.
func (m *MarkedText) Set(text string, color fyne.ThemeColorName) {
	if m.text != text || m.color != color {
		m.text, m.color = text, color
		m.Refresh()
	}
}

// MinSize implements fyne.Widget.
func (m *MarkedText) MinSize() fyne.Size {
	return fyne.NewSize(24, MeasureText("M", style.Size(m.size), fyne.TextStyle{}).Height)
}

// CreateRenderer implements fyne.Widget.
func (m *MarkedText) CreateRenderer() fyne.WidgetRenderer { return &markedRenderer{text: m} }

type markedRenderer struct {
	text    *MarkedText
	objects []fyne.CanvasObject
}

// Layout implements fyne.WidgetRenderer.
func (r *markedRenderer) Layout(size fyne.Size) {
	r.objects = r.objects[:0]
	font, x := style.Size(r.text.size), float32(0)
	for part := range strings.SplitAfterSeq(r.text.text, MarkEnd) {
		before, marked, _ := strings.Cut(part, MarkStart)
		for _, p := range []struct {
			text string
			on   bool
		}{{before, false}, {strings.TrimSuffix(marked, MarkEnd), true}} {
			if rest := size.Width - x; p.text != "" && rest > font {
				x += r.add(p.text, p.on, x, rest, size.Height)
			}
		}
	}
}

// add shows a part at x with at most the width of the rest, and returns its width.
func (r *markedRenderer) add(text string, marked bool, x, rest, height float32) float32 {
	font, bold := style.Size(r.text.size), fyne.TextStyle{Bold: marked}
	full := MeasureText(text, font, bold)
	if full.Width > rest+0.5 {
		text = truncate(text, rest, font, bold)
	}
	t := canvas.NewText(text, style.Color(Choose(marked, style.ColorText, r.text.color)))
	t.TextSize, t.TextStyle, t.FontSource = font, bold, singleFont(text, bold)
	at, size := fyne.NewPos(x, (height-full.Height)/2), fyne.NewSize(min(full.Width, rest), full.Height)
	if marked {
		back := canvas.NewRectangle(style.Color(style.ColorFound))
		back.CornerRadius = 2
		back.Move(at)
		back.Resize(size)
		r.objects = append(r.objects, back)
	}
	t.Move(at)
	t.Resize(size)
	r.objects = append(r.objects, t)
	return full.Width
}

// MinSize implements fyne.WidgetRenderer.
func (r *markedRenderer) MinSize() fyne.Size { return r.text.MinSize() }

// Refresh implements fyne.WidgetRenderer.
func (r *markedRenderer) Refresh() {
	r.Layout(r.text.Size())
	canvas.Refresh(r.text)
}

// Objects implements fyne.WidgetRenderer.
func (r *markedRenderer) Objects() []fyne.CanvasObject { return r.objects }

// Destroy implements fyne.WidgetRenderer.
func (r *markedRenderer) Destroy() {}
