package widgets

import (
	"net/url"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/typeset"
)

// lineHeight is the line height as a multiple of the font size.
const lineHeight = 1.45

// ink is the colouring of a run of a paragraph.
type ink struct {
	color  fyne.ThemeColorName // empty is the colour of text
	link   *url.URL
	code   bool // with a background
	strike bool
}

// para is a paragraph, a list item, a heading or a rule.
type para struct {
	runs  []typeset.Run
	inks  []ink   // of each run
	above float32 // space before it, except for the first
	left  float32 // indentation; at the right for right-to-left text
	mark  string  // precedes its first line, such as a bullet or a number
	quote int     // number of quote bars beside it
	rule  bool    // a horizontal rule without text
	code  bool    // with a background as wide as the text
	apart string  // separator from the previous paragraph when both are copied
}

// Prose shows paragraphs in one picture. Any part of it can be selected; see [Transcript] for
// selecting across several.
type Prose struct {
	widget.BaseWidget
	// OnLink is called with the target of a clicked link.
	OnLink func(*url.URL)
	// OnPress is called when the primary mouse button is pressed at a position of the text: once,
	// twice or three times in quick succession.
	OnPress func(at, times int)
	// OnMenu is called for the secondary button.
	OnMenu func(at fyne.Position)

	paras []para
	size  float32 // text size of the last layout
	key   float32 // width of the last layout
	width float32 // width of its lines
	laid  []laidPara
	full  fyne.Size

	marks   marks
	hover   *url.URL
	presses presses
	// wraps lines at this width instead of the available one; the widget is then as wide as the
	// text
	wrap float32
	lead string
}

type laidPara struct {
	text *typeset.Text
	y    float32
	// space at its left; right-to-left text has its mark and its quote bars at the right
	left float32
	side float32 // the same at its right
	off  int     // index of its first rune in the whole text
	mark *typeset.Text
}

// room returns the width available for a paragraph's text.
func (p *Prose) room(l *laidPara) float32 { return p.width - l.left - l.side }

var (
	_ Passage                = (*Prose)(nil)
	_ fyne.Tappable          = (*Prose)(nil)
	_ fyne.SecondaryTappable = (*Prose)(nil)
	_ desktop.Mouseable      = (*Prose)(nil)
	_ desktop.Hoverable      = (*Prose)(nil)
	_ desktop.Cursorable     = (*Prose)(nil)
)

// NewProse creates an empty text.
func NewProse() *Prose { return newProse(nil) }

func newProse(paras []para) *Prose {
	p := &Prose{paras: paras, marks: marks{current: -1}, lead: "\n\n"}
	p.ExtendBaseWidget(p)
	return p
}

// set shows other paragraphs.
func (p *Prose) set(paras []para) {
	p.paras = paras
	p.marks.from, p.marks.to = 0, 0
	p.key = 0
	p.lay(p.Size().Width)
	p.marks.look(p.texts)
	p.Refresh()
}

// SetPlain shows plain text.
func (p *Prose) SetPlain(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) {
	p.set(plainParas(text, color, size))
}

// plainParas returns the paragraphs of plain text.
func plainParas(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) []para {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\t", "    ")
	return []para{{runs: []typeset.Run{{Text: text, Style: typeset.Style{Size: style.Size(size) / style.Size("text")}}}, inks: []ink{{color: color}}}}
}

// lay breaks the lines for a width. Font sizes of runs are relative, so that another text size
// needs no new paragraphs.
func (p *Prose) lay(width float32) {
	size := style.Size("text")
	if p.wrap > 0 {
		width = p.wrap
	}
	if width <= 0 || width == p.key && size == p.size {
		return
	}
	p.key, p.width, p.size = width, width, size
	p.laid = p.laid[:0]
	y, off, wide := float32(0), 0, float32(0)
	for i := range p.paras {
		q := &p.paras[i]
		if i > 0 {
			y += q.above
		}
		runs := make([]typeset.Run, len(q.runs))
		for k, r := range q.runs {
			r.Style.Size *= size
			runs[k] = r
		}
		left := float32(int(q.left * size / 14))
		l := laidPara{y: y, left: left, off: off}
		switch {
		case q.rule:
			l.text = typeset.Lay(nil, 0, 0)
			y += 1
		default:
			inner := width - left
			if q.code {
				inner -= 2 * style.Inside
				l.left, l.y = l.left+style.Inside, l.y+4
			}
			l.text = typeset.Lay(runs, max(inner, 40), lineHeight)
			y += l.text.Height
			mark := q.mark
			switch {
			case q.code:
				y += 8
			case l.text.FromRight():
				l.left, l.side = 0, left
				mark = "\u200f" + mark // puts the dot at the left of the number
			}
			if q.mark != "" {
				l.mark = typeset.Lay([]typeset.Run{{Text: mark, Style: typeset.Style{Size: size}}}, 0, lineHeight)
			}
			wide = max(wide, l.left+l.text.Width+l.side)
		}
		off += l.text.Runes() + 1
		p.laid = append(p.laid, l)
	}
	p.full = fyne.NewSize(float32(int(wide+1)), float32(int(y+0.5)))
	if p.wrap > 0 {
		p.width = p.full.Width
	}
}
