package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/wording"
)

// Text is one line of text without padding. With Ellipsis it is cut to the available width.
type Text struct {
	widget.BaseWidget
	Text     string
	Color    fyne.ThemeColorName
	SizeName fyne.ThemeSizeName
	Style    fyne.TextStyle
	Align    fyne.TextAlign
	Ellipsis bool
	// IsPath cuts a path in its middle, with Ellipsis.
	IsPath bool
	// Suffix stays visible when the text is cut, unless it takes most of the width.
	Suffix string
}

// NewText creates a line of text.
func NewText(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) *Text {
	t := &Text{Text: text, Color: color, SizeName: size}
	t.ExtendBaseWidget(t)
	return t
}

// NewHeading creates a bold line.
func NewHeading(text string, size fyne.ThemeSizeName) *Text {
	t := NewText(text, style.ColorText, size)
	t.Style.Bold = true
	return t
}

// SetText changes the text.
func (t *Text) SetText(text string) { t.Set(text, t.Color) }

// Set changes text and colour.
func (t *Text) Set(text string, color fyne.ThemeColorName) {
	if t.Text != text || t.Color != color {
		t.Text, t.Color = text, color
		t.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (t *Text) CreateRenderer() fyne.WidgetRenderer {
	r := &textRenderer{t: t, text: canvas.NewText("", nil)}
	r.update()
	return r
}

type textRenderer struct {
	t    *Text
	text *canvas.Text
	full fyne.Size // size of the whole text
	tail float32   // width of the tail
}

func (r *textRenderer) update() {
	r.text.Color = style.Color(r.t.Color)
	r.text.TextSize = style.Size(r.t.SizeName)
	r.text.TextStyle = r.t.Style
	r.text.FontSource = singleFont(r.t.Text+r.t.Suffix, r.t.Style)
	r.text.Alignment = r.t.Align
	r.full = MeasureText(r.t.Text+r.t.Suffix, r.text.TextSize, r.text.TextStyle)
	r.tail = MeasureText(r.t.Suffix, r.text.TextSize, r.text.TextStyle).Width
	if r.t.Text+r.t.Suffix == "" {
		r.full = fyne.NewSize(0, MeasureText("M", r.text.TextSize, r.text.TextStyle).Height)
	}
}

func (r *textRenderer) Layout(size fyne.Size) {
	text := r.t.Text + r.t.Suffix
	if r.t.Ellipsis && r.full.Width > size.Width+0.5 {
		text = r.shorten(size.Width)
	}
	if r.text.Text != text {
		r.text.Text, r.text.FontSource = text, singleFont(text, r.t.Style)
		r.text.Refresh()
	}
	r.text.Move(fyne.NewPos(0, (size.Height-r.full.Height)/2))
	r.text.Resize(fyne.NewSize(size.Width, r.full.Height))
}

// shorten cuts the text to a width.
func (r *textRenderer) shorten(width float32) string {
	text, size, font := r.t.Text+r.t.Suffix, r.text.TextSize, r.text.TextStyle
	if r.t.IsPath {
		fits := func(short string) bool { return MeasureText(short, size, font).Width <= width }
		if text = wording.ShortenPath(text, fits); fits(text) {
			return text
		}
	}
	if r.tail > 0 && r.tail < width/2 {
		return truncate(r.t.Text, width-r.tail, size, font) + r.t.Suffix
	}
	return truncate(text, width, size, font)
}

func (r *textRenderer) MinSize() fyne.Size {
	if r.t.Ellipsis {
		return fyne.NewSize(min(r.full.Width, 24), r.full.Height)
	}
	return r.full
}

func (r *textRenderer) Refresh() {
	r.update()
	r.Layout(r.t.Size())
	r.text.Refresh()
}

func (r *textRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.text} }
func (r *textRenderer) Destroy()                     {}

// NewCodeLine creates an indented line of monospaced text, cut to the width that it gets.
func NewCodeLine(text string) fyne.CanvasObject {
	t := NewText(text, style.ColorText, style.SizeSmall)
	t.Style.Monospace, t.Ellipsis = true, true
	return Inset(0, 0, 0, style.Group, t)
}

// NewIconLine creates a paragraph with an icon before it.
func NewIconLine(icon string, color fyne.ThemeColorName, text string) fyne.CanvasObject {
	return WithIcon("text", 0, widget.NewIcon(style.IconIn(icon, color)), NewParagraph(text, style.ColorText, "text"))
}

// truncate shortens text with … to width.
func truncate(text string, width, size float32, style fyne.TextStyle) string {
	runes := []rune(text)
	// no letter is narrower than a sixth of its font size
	lo, hi := 0, min(len(runes), int(width/size*6)+1)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if MeasureText(string(runes[:mid])+"…", size, style).Width <= width {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	// text that ends in … does not get a second one
	return strings.TrimRight(string(runes[:lo]), " …") + "…"
}

// NewParagraph creates wrapping plain text without padding, in any named colour and size.
func NewParagraph(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) *Paragraph {
	p := &Paragraph{segment: &widget.TextSegment{Text: text, Style: widget.RichTextStyle{ColorName: color, SizeName: size}}}
	p.rich = widget.NewRichText(p.segment)
	p.rich.Wrapping = fyne.TextWrapWord
	p.Compose(p, WithoutPadding(p.rich))
	return p
}

// NewSelectableText creates wrapping text without padding that can be selected and copied.
func NewSelectableText(text string) fyne.CanvasObject {
	l := widget.NewLabel(text)
	l.Selectable, l.Wrapping = true, fyne.TextWrapWord
	return WithoutPadding(l)
}

// NewSelectableCode is NewSelectableText in a monospaced font.
func NewSelectableCode(text string) fyne.CanvasObject {
	l := widget.NewLabel(text)
	l.Selectable, l.Wrapping, l.TextStyle.Monospace = true, fyne.TextWrapBreak, true
	return WithoutPadding(l)
}

// Paragraph is wrapping plain text.
type Paragraph struct {
	Composite
	segment  *widget.TextSegment
	rich     *widget.RichText
	isStatus bool // hidden while it has no text
}

// NewStatus creates a paragraph for the result of an action. It takes no space until it has a text.
func NewStatus() *Paragraph {
	p := NewParagraph("", style.ColorMuted, "text")
	p.isStatus = true
	p.Hide()
	return p
}

// Set changes text and colour.
func (p *Paragraph) Set(text string, color fyne.ThemeColorName) {
	if p.segment.Text != text || p.segment.Style.ColorName != color {
		p.segment.Text, p.segment.Style.ColorName = text, color
		p.rich.Refresh()
	}
	if p.isStatus && p.Visible() != (text != "") {
		SetVisible(p, text != "")
		redraw(p)
	}
}

// redraw draws the windows again if an object has never been drawn: Fyne does not know its window,
// and drops its own request to be drawn.
func redraw(o fyne.CanvasObject) {
	driver := fyne.CurrentApp().Driver()
	if driver.CanvasForObject(o) != nil {
		return
	}
	for _, w := range driver.AllWindows() {
		w.Canvas().Refresh(w.Canvas().Content())
	}
}

// Text returns its text.
func (p *Paragraph) Text() string { return p.segment.Text }

// SetStyle changes the style of the text.
func (p *Paragraph) SetStyle(s fyne.TextStyle) {
	p.segment.Style.TextStyle = s
	p.rich.Refresh()
}

// singleFont returns a single font that has all characters of a text in a style, or nil to let Fyne
// choose. Fyne's choice loads for each style also the fonts for emoji, symbols and the system's
// language: 8 MB of memory, often for a few bold words or the width of a letter.
func singleFont(text string, style fyne.TextStyle) fyne.Resource {
	for _, r := range text {
		if !isPlainLetter(r) {
			return nil
		}
	}
	switch style {
	case fyne.TextStyle{Bold: true}:
		return theme.DefaultTextBoldFont()
	case fyne.TextStyle{Monospace: true}:
		return theme.DefaultTextMonospaceFont()
	}
	return nil // the regular fonts are loaded anyway
}

// isPlainLetter reports whether all of Fyne's text fonts have a character: Latin and Cyrillic.
func isPlainLetter(r rune) bool {
	switch {
	case r >= ' ' && r <= '~', r >= 0xa0 && r < 0x180, r >= 0x400 && r < 0x460:
		return true
	}
	switch r {
	case '–', '—', '‘', '’', '“', '”', '„', '…', '•':
		return true
	}
	return false
}

// MeasureText returns the size of a line of text.
func MeasureText(text string, size float32, style fyne.TextStyle) fyne.Size {
	s, _ := fyne.CurrentApp().Driver().RenderedTextSize(text, size, style, singleFont(text, style))
	return s
}
