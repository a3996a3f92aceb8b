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

// RichText shows paragraphs in one picture. Any part of it can be selected; see [transcript.View]
// for selecting across several.
type RichText struct {
	widget.BaseWidget
	// OnLink is called with the target of a clicked link.
	OnLink func(*url.URL)
	// OnPress is called when the primary mouse button is pressed at a position of the text: once,
	// twice or three times in quick succession.
	OnPress func(at, times int)
	// OnMenu is called for the secondary button.
	OnMenu func(at fyne.Position)

	paragraphs  []paragraph
	size        float32 // text size of the last layout
	layoutWidth float32 // width of the last layout
	width       float32 // width of its lines
	placed      []placedParagraph
	fullSize    fyne.Size

	Highlights selection.Highlights
	hover      *url.URL
	clicks     selection.ClickCounter
	// wraps lines at this width instead of the available one; the widget is then as wide as the
	// text
	maxWidth  float32
	separator string
}

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

var (
	_ selection.Passage      = (*RichText)(nil)
	_ fyne.Tappable          = (*RichText)(nil)
	_ fyne.SecondaryTappable = (*RichText)(nil)
	_ desktop.Mouseable      = (*RichText)(nil)
	_ desktop.Hoverable      = (*RichText)(nil)
	_ desktop.Cursorable     = (*RichText)(nil)
)

// NewRichText creates an empty text.
func NewRichText() *RichText { return newRichText(nil) }

func newRichText(paras []paragraph) *RichText {
	p := &RichText{paragraphs: paras, Highlights: selection.Highlights{Current: -1}, separator: "\n\n"}
	p.ExtendBaseWidget(p)
	return p
}

// set shows other paragraphs.
func (p *RichText) set(paras []paragraph) {
	p.paragraphs = paras
	p.Highlights.From, p.Highlights.To = 0, 0
	p.layoutWidth = 0
	p.layOut(p.Size().Width)
	p.Highlights.Update(p.texts)
	p.Refresh()
}

// SetPlain shows plain text.
func (p *RichText) SetPlain(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) {
	p.set(plainParagraphs(text, color, size))
}

// plainParagraphs returns the paragraphs of plain text.
func plainParagraphs(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) []paragraph {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\t", "    ")
	return []paragraph{{runs: []typeset.Run{{Text: text, Style: typeset.Style{Size: style.Size(size) / style.Size("text")}}}, decorations: []decoration{{color: color}}}}
}

// layOut breaks the lines for a width. Font sizes of runs are relative, so that another text size
// needs no new paragraphs.
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
