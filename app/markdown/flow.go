package markdown

import (
	"net/url"
	"strings"

	"fyne.io/fyne/v2"

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

// flow is the paragraphs of a text with their line breaks at a width.
type flow struct {
	paragraphs  []paragraph
	size        float32 // text size of the last layout
	layoutWidth float32 // width of the last layout
	width       float32 // width of its lines
	placed      []placedParagraph
	fullSize    fyne.Size
	// wraps lines at this width; the text is then as wide as its lines
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

// set replaces the paragraphs, and lays them out for a width.
func (f *flow) set(paras []paragraph, width float32) {
	f.paragraphs = paras
	f.layoutWidth = 0
	f.layOut(width)
}

// textWidth returns the width available for a paragraph's text.
func (f *flow) textWidth(l *placedParagraph) float32 { return f.width - l.left - l.right }

// layOut breaks the lines for a width. Runs have relative sizes, for another text size.
func (f *flow) layOut(width float32) {
	size := style.Size("text")
	if f.maxWidth > 0 {
		width = f.maxWidth
	}
	if width <= 0 || width == f.layoutWidth && size == f.size {
		return
	}
	f.layoutWidth, f.width, f.size = width, width, size
	f.placed = f.placed[:0]
	y, off, wide := float32(0), 0, float32(0)
	for i := range f.paragraphs {
		q := &f.paragraphs[i]
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
		f.placed = append(f.placed, l)
	}
	f.fullSize = fyne.NewSize(float32(int(wide+1)), float32(int(y+0.5)))
	if f.maxWidth > 0 {
		f.width = f.fullSize.Width
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

func (f *flow) texts(yield func(string) bool) {
	for i := range f.paragraphs {
		if !yield(f.paragraphs[i].text()) {
			return
		}
	}
}

// index returns the text position nearest to a point.
func (f *flow) index(at fyne.Position) int {
	for i := range f.placed {
		l := &f.placed[i]
		if at.Y < l.y+l.text.Height || i == len(f.placed)-1 {
			return l.offset + l.text.Index(at.X-l.left, at.Y-l.y, f.textWidth(l))
		}
	}
	return 0
}

// positionOf returns the point of a text position.
func (f *flow) positionOf(at int) fyne.Position {
	for i := range f.placed {
		l := &f.placed[i]
		if at := at - l.offset; at >= 0 && at < l.text.Runes() {
			for _, b := range l.text.Boxes(at, at+1, f.textWidth(l)) {
				return fyne.NewPos(l.left+b.X, l.y+b.Y)
			}
		}
	}
	return fyne.Position{}
}

// slice returns a range of the text as it is copied: with bullets, numbers and line breaks.
func (f *flow) slice(from, to int) string {
	var b strings.Builder
	off := 0
	for i := range f.paragraphs {
		q := &f.paragraphs[i]
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

func (f *flow) linkAt(at fyne.Position) *url.URL {
	for i := range f.placed {
		l := &f.placed[i]
		if at.Y < l.y || at.Y >= l.y+l.text.Height {
			continue
		}
		for d, run := range f.paragraphs[i].all() {
			if d.link == nil {
				continue
			}
			for _, b := range l.text.Boxes(run[0], run[1], f.textWidth(l)) {
				if x := at.X - l.left; x >= b.X && x < b.X+b.Width && at.Y-l.y >= b.Y && at.Y-l.y < b.Y+b.Height {
					return d.link
				}
			}
		}
	}
	return nil
}

// pictureWidth returns the part of the width that has content.
func (f *flow) pictureWidth() float32 {
	for i := range f.placed {
		if q := &f.paragraphs[i]; q.rule || q.code || f.placed[i].text.IsRightToLeft() {
			return f.width
		}
	}
	return min(f.fullSize.Width+1, f.width)
}
