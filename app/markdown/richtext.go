package markdown

import (
	"net/url"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/typeset"
)

// lineHeight is the line height as a multiple of the font size.
const lineHeight = 1.45

// decoration is the colouring of a run of a paragraph.
type decoration struct {
	color  fyne.ThemeColorName // empty is the colour of text
	link   *url.URL
	code   bool // with a background
	strike bool
}

// paragraph is a paragraph, a list item, a heading or a rule.
type paragraph struct {
	runs        []typeset.Run
	decorations []decoration // of each run
	spaceAbove  float32      // space before it, except for the first
	indent      float32      // indentation; at the right for right-to-left text
	bullet      string       // precedes its first line, such as a bullet or a number
	quote       int          // number of quote bars beside it
	rule        bool         // a horizontal rule without text
	code        bool         // with a background as wide as the text
	separator   string       // separator from the previous paragraph when both are copied
}

// RichText shows paragraphs in one picture; see [transcript.View] for selecting across several.
type RichText struct {
	widget.BaseWidget
	selection.Text

	paragraphs  []paragraph
	size        float32 // text size of the last layout
	layoutWidth float32 // width of the last layout
	width       float32 // width of its lines
	placed      []placedParagraph
	fullSize    fyne.Size

	hover *url.URL // the link under the mouse
	// wraps lines at this width; the widget is then as wide as the text
	maxWidth float32
}

// codePad is the space between inline code and the edge of its background.
const codePad = 3

type placedParagraph struct {
	text *typeset.Text
	y    float32
	// space at its left; right-to-left text has its mark and its quote bars at the right
	left   float32
	right  float32 // the same at its right
	offset int     // index of its first rune in the whole text
	bullet *typeset.Text
}

// textWidth returns the width available for a paragraph's text.
func (p *RichText) textWidth(l *placedParagraph) float32 { return p.width - l.left - l.right }

// NewRichText creates an empty text.
func NewRichText() *RichText { return newRichText(nil) }

func newRichText(paras []paragraph) *RichText {
	p := &RichText{paragraphs: paras}
	p.Text = selection.NewText(p, p.texts)
	p.ExtendBaseWidget(p)
	return p
}

func (p *RichText) set(paras []paragraph) {
	p.paragraphs = paras
	p.layoutWidth = 0
	p.layOut(p.Size().Width)
	p.Changed()
}

// SetPlain shows plain text.
func (p *RichText) SetPlain(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) {
	p.set(plainParagraphs(text, color, size))
}

func plainParagraphs(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) []paragraph {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\t", "    ")
	return []paragraph{{runs: []typeset.Run{{Text: text, Style: typeset.Style{Size: style.Size(size) / style.Size("text")}}}, decorations: []decoration{{color: color}}}}
}

// layOut breaks the lines for a width. Runs have relative sizes, for another text size.
func (p *RichText) layOut(width float32) {
	size := style.Size("text")
	if p.maxWidth > 0 {
		width = p.maxWidth
	}
	if width <= 0 || width == p.layoutWidth && size == p.size {
		return
	}
	p.layoutWidth, p.width, p.size = width, width, size
	p.placed = p.placed[:0]
	y, off, wide := float32(0), 0, float32(0)
	for i := range p.paragraphs {
		q := &p.paragraphs[i]
		if i > 0 {
			y += q.spaceAbove
		}
		runs := make([]typeset.Run, len(q.runs))
		for k, r := range q.runs {
			r.Style.Size *= size
			if q.decorations[k].code {
				r.Pad = codePad
			}
			runs[k] = r
		}
		left := float32(int(q.indent * size / 14))
		l := placedParagraph{y: y, left: left, offset: off}
		switch {
		case q.rule:
			l.text = typeset.LayOut(nil, 0, 0)
			y += 1
		default:
			inner := width - left
			if q.code {
				inner -= 2 * style.Inside
				l.left, l.y = l.left+style.Inside, l.y+4
			}
			l.text = typeset.LayOut(runs, max(inner, 40), lineHeight)
			y += l.text.Height
			mark := q.bullet
			switch {
			case q.code:
				y += 8
			case l.text.IsRightToLeft():
				l.left, l.right = 0, left
				mark = "\u200f" + mark // puts the dot at the left of the number
			}
			if q.bullet != "" {
				l.bullet = typeset.LayOut([]typeset.Run{{Text: mark, Style: typeset.Style{Size: size}}}, 0, lineHeight)
			}
			wide = max(wide, l.left+l.text.Width+l.right)
		}
		off += l.text.Runes() + 1
		p.placed = append(p.placed, l)
	}
	p.fullSize = fyne.NewSize(float32(int(wide+1)), float32(int(y+0.5)))
	if p.maxWidth > 0 {
		p.width = p.fullSize.Width
	}
}

// text returns a paragraph's text, without its bullet.
func (q *paragraph) text() string {
	var b strings.Builder
	for _, r := range q.runs {
		b.WriteString(r.Text)
	}
	return b.String()
}

func (p *RichText) texts(yield func(string) bool) {
	for i := range p.paragraphs {
		if !yield(p.paragraphs[i].text()) {
			return
		}
	}
}

// Index implements [selection.Passage].
func (p *RichText) Index(at fyne.Position) int {
	p.layOut(p.Size().Width)
	for i := range p.placed {
		l := &p.placed[i]
		if at.Y < l.y+l.text.Height || i == len(p.placed)-1 {
			return l.offset + l.text.Index(at.X-l.left, at.Y-l.y, p.textWidth(l))
		}
	}
	return 0
}

// PositionOf implements [selection.Passage].
func (p *RichText) PositionOf(at int) fyne.Position {
	p.layOut(p.Size().Width)
	for i := range p.placed {
		l := &p.placed[i]
		if at := at - l.offset; at >= 0 && at < l.text.Runes() {
			for _, b := range l.text.Boxes(at, at+1, p.textWidth(l)) {
				return fyne.NewPos(l.left+b.X, l.y+b.Y)
			}
		}
	}
	return fyne.Position{}
}

// Slice returns a range of the text as it is copied: with bullets, numbers and line breaks.
func (p *RichText) Slice(from, to int) string {
	var b strings.Builder
	off := 0
	for i := range p.paragraphs {
		q := &p.paragraphs[i]
		text := []rune(q.text())
		a, z := max(from-off, 0), min(to-off, len(text))
		if a <= z && to > off && from <= off+len(text) {
			if b.Len() > 0 {
				b.WriteString(q.separator)
			}
			if a == 0 && q.bullet != "" {
				b.WriteString(strings.Repeat("  ", int(max(q.indent-20, 0)/20)) + q.bullet + " ")
			}
			b.WriteString(string(text[a:z]))
		}
		off += len(text) + 1
	}
	return b.String()
}

func (p *RichText) linkAt(at fyne.Position) *url.URL {
	for i := range p.placed {
		l := &p.placed[i]
		if at.Y < l.y || at.Y >= l.y+l.text.Height {
			continue
		}
		for d, run := range p.paragraphs[i].all() {
			if d.link == nil {
				continue
			}
			for _, b := range l.text.Boxes(run[0], run[1], p.textWidth(l)) {
				if x := at.X - l.left; x >= b.X && x < b.X+b.Width && at.Y-l.y >= b.Y && at.Y-l.y < b.Y+b.Height {
					return d.link
				}
			}
		}
	}
	return nil
}

// Tapped implements fyne.Tappable: it follows a link.
func (p *RichText) Tapped(e *fyne.PointEvent) {
	if u := p.linkAt(e.Position); u != nil && p.OnLink != nil && p.From == p.To {
		p.OnLink(u)
	}
}

// MouseIn implements desktop.Hoverable.
func (p *RichText) MouseIn(e *desktop.MouseEvent) {
	if p.Events != nil && p.OnHover != nil {
		p.OnHover()
	}
	p.MouseMoved(e)
}

// MouseMoved implements desktop.Hoverable: the link under the mouse is underlined.
func (p *RichText) MouseMoved(e *desktop.MouseEvent) {
	if u := p.linkAt(e.Position); u != p.hover {
		p.hover = u
		p.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (p *RichText) MouseOut() {
	if p.hover != nil {
		p.hover = nil
		p.Refresh()
	}
}

// Cursor implements desktop.Cursorable.
func (p *RichText) Cursor() desktop.Cursor {
	if p.hover != nil {
		return desktop.PointerCursor
	}
	return p.Text.Cursor()
}
