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

// lineHeight is that of text, in sizes of its letters.
const lineHeight = 1.45

// ink is how a run of a paragraph is coloured.
type ink struct {
	color  fyne.ThemeColorName // empty is the colour of text
	link   *url.URL
	code   bool // on a ground
	strike bool
}

// para is a paragraph, an item of a list, a heading or a rule.
type para struct {
	runs  []typeset.Run
	inks  []ink   // of each run
	above float32 // space before it, but for the first
	left  float32 // or at the right, of what is written from there
	mark  string  // before its first line, such as a bullet or a number
	quote int     // how many rules stand beside it
	rule  bool    // a line and no text
	code  bool    // on a ground as wide as the text
	apart string  // what stands between it and the one before when both are copied
}

// Prose shows paragraphs in one picture. Any part of it can be marked; see [Transcript] for marking across several.
type Prose struct {
	widget.BaseWidget
	// OnLink is called with the target of a link that was clicked.
	OnLink func(*url.URL)
	// OnPress is called when a button of the mouse goes down at a place in the text: once, twice or three times in short order.
	OnPress func(at, times int)
	// OnMenu is called for the other button.
	OnMenu func(at fyne.Position)

	paras []para
	size  float32 // of text, as last laid out
	key   float32 // the width it was laid out for
	width float32 // what its lines have
	laid  []laidPara
	full  fyne.Size

	marks
	hover   *url.URL
	presses presses
	wrap    float32 // lines break at this width instead of that of the place, which is then as wide as the text
	lead    string
}

type laidPara struct {
	text *typeset.Text
	y    float32
	left float32 // beside it; what is written from the right has its mark and its rules at the right
	side float32 // the same at its right
	off  int     // of its first rune in the whole
	mark *typeset.Text
}

// room is how wide the place of a paragraph's text is.
func (p *Prose) room(l *laidPara) float32 { return p.width - l.left - l.side }

var (
	_ Passage                = (*Prose)(nil)
	_ fyne.Tappable          = (*Prose)(nil)
	_ fyne.SecondaryTappable = (*Prose)(nil)
	_ desktop.Mouseable      = (*Prose)(nil)
	_ desktop.Hoverable      = (*Prose)(nil)
	_ desktop.Cursorable     = (*Prose)(nil)
)

func newProse(paras []para) *Prose {
	p := &Prose{paras: paras, marks: marks{current: -1}, lead: "\n\n"}
	p.ExtendBaseWidget(p)
	return p
}

// set shows other paragraphs.
func (p *Prose) set(paras []para) {
	p.paras = paras
	p.from, p.to = 0, 0
	p.key = 0
	p.lay(p.Size().Width)
	p.look(p.texts)
	p.Refresh()
}

// plainParas shows text as it was written.
func plainParas(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) []para {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\t", "    ")
	return []para{{runs: []typeset.Run{{Text: text, Style: typeset.Style{Size: style.Size(size) / style.Size("text")}}}, inks: []ink{{color: color}}}}
}

// lay breaks the lines for a width. Sizes of runs are parts of the size of text, so that another size needs no other paragraphs.
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
				mark = "\u200f" + mark // the dot of a number stands at its left then
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
