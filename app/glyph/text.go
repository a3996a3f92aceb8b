package glyph

import (
	"math"
	"slices"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
)

// Run is text in one style. A line break in it ends a line.
type Run struct {
	Text  string
	Style Style
}

// Text is laid out: it does not change any more.
type Text struct {
	// Width is that of the widest line, Height that of all.
	Width, Height float32

	lines []line
	runes []rune
}

type line struct {
	y, height, base float32 // base is where letters stand, below y
	from, to        int     // runes, without the line break
	rtl             bool
	parts           []part // from left to right
}

// part is letters of one font and style on one line.
type part struct {
	x, width float32
	run      int
	face     *font.Face
	size     float32
	rtl      bool
	from, to int
	letters  []letter // from left to right
}

type letter struct {
	id       font.GID
	x, y     float32 // from the part's beginning on the line
	advance  float32
	from     int // first rune of its cluster
	count    int
	coloured *shaping.Glyph // a picture, such as an emoji
	em       float32        // the size of coloured
}

var (
	shaper    shaping.HarfbuzzShaper
	segmenter shaping.Segmenter
	wrapper   shaping.LineWrapper
)

// Lay breaks runs into lines of at most width; 0 breaks only where a run does. spacing is the height of a line in sizes of its largest letters.
func Lay(runs []Run, width, spacing float32) *Text {
	t := &Text{}
	ends := make([]int, len(runs)) // of each run in runes
	for i, r := range runs {
		t.runes = append(t.runes, []rune(r.Text)...)
		ends[i] = len(t.runes)
	}
	for from := 0; ; {
		to := from
		for to < len(t.runes) && t.runes[to] != '\n' {
			to++
		}
		t.hard(runs, ends, from, to, width, spacing)
		if to == len(t.runes) {
			break
		}
		from = to + 1
	}
	return t
}

// hard lays out what stands between two line breaks.
func (t *Text) hard(runs []Run, ends []int, from, to int, width, spacing float32) {
	text := t.runes[from:to]
	rtl := fromRight(text)
	dir := di.DirectionLTR
	if rtl {
		dir = di.DirectionRTL
	}
	var outs []shaping.Output
	var of []int // the run of each
	begin := 0
	for i, r := range runs {
		a, b := max(begin, from), min(ends[i], to)
		begin = ends[i]
		if a >= b {
			continue
		}
		in := shaping.Input{
			Text: text, RunStart: a - from, RunEnd: b - from, Direction: dir, Size: points(r.Style.Size),
			Script: language.Common, Language: language.NewLanguage("en"),
		}
		f := facesOf(r.Style)
		for _, part := range segmenter.Split(in, f) {
			for _, piece := range ownSpaces(part, f.all[0]) {
				outs = append(outs, shaper.Shape(piece))
				of = append(of, i)
			}
		}
	}
	if len(outs) == 0 {
		size := float32(14)
		for i := range runs {
			size = runs[i].Style.Size
			if ends[i] >= from {
				break
			}
		}
		h := round(size * spacing)
		t.lines = append(t.lines, line{y: t.Height, height: h, base: h * 0.75, from: from, to: to, rtl: rtl})
		t.Height += h
		return
	}
	limit := fixed.Int26_6(math.MaxInt32)
	if width > 0 {
		limit = points(width)
	}
	config := shaping.WrapConfig{Direction: dir, BreakPolicy: shaping.WhenNecessary}
	lines, _ := wrapper.WrapParagraphF(config, limit, text, shaping.NewSliceIterator(outs))
	for _, l := range lines {
		t.add(l, from, runs, outs, of, rtl, spacing)
	}
}

// ownSpaces takes the spaces out of what another font stands in for: after a sign from the font for code they would be wide.
func ownSpaces(in shaping.Input, own *font.Face) []shaping.Input {
	if in.Face == own || !slices.Contains(in.Text[in.RunStart:in.RunEnd], ' ') {
		return []shaping.Input{in}
	}
	var list []shaping.Input
	for from := in.RunStart; from < in.RunEnd; {
		to := from + 1
		for to < in.RunEnd && (in.Text[to] == ' ') == (in.Text[from] == ' ') {
			to++
		}
		piece := in
		if piece.RunStart, piece.RunEnd = from, to; in.Text[from] == ' ' {
			piece.Face = own
		}
		list = append(list, piece)
		from = to
	}
	return list
}

// fromRight reports whether the first letter with a direction is written from the right (UAX 9, P2 and P3, as far as scripts tell).
func fromRight(text []rune) bool {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko):
			return true
		case unicode.IsLetter(r):
			return false
		}
	}
	return false
}

func (t *Text) add(outs shaping.Line, offset int, runs []Run, all []shaping.Output, of []int, rtl bool, spacing float32) {
	l := line{y: t.Height, rtl: rtl, from: math.MaxInt}
	seen := slices.Clone(outs)
	slices.SortStableFunc(seen, func(a, b shaping.Output) int { return int(a.VisualIndex) - int(b.VisualIndex) })
	x, size := float32(0), float32(0)
	for _, o := range seen {
		run := of[0]
		for i := range all {
			if r := all[i].Runes; o.Runes.Offset >= r.Offset && o.Runes.Offset < r.Offset+r.Count {
				run = of[i]
			}
		}
		p := part{
			x: x, run: run, face: o.Face, size: runs[run].Style.Size, rtl: o.Direction == di.DirectionRTL,
			from: offset + o.Runes.Offset, to: offset + o.Runes.Offset + o.Runes.Count, letters: make([]letter, 0, len(o.Glyphs)),
		}
		at := float32(0)
		own := facesOf(runs[run].Style).all[0]
		for _, g := range o.Glyphs {
			advance := units(g.Advance)
			k := letter{id: g.GlyphID, x: at + units(g.XOffset), y: -units(g.YOffset), advance: advance, from: offset + g.TextIndex(), count: g.RunesCount()}
			if o.Face != own {
				if _, outline := o.Face.GlyphData(g.GlyphID).(font.GlyphOutline); !outline {
					k.coloured, k.em = &g, runs[run].Style.Size
				}
			}
			p.letters = append(p.letters, k)
			at += advance
		}
		p.width = at
		x += at
		l.parts = append(l.parts, p)
		l.from, l.to = min(l.from, p.from), max(l.to, p.to)
		if p.size > size {
			size = p.size
			e, _ := own.FontHExtents()
			scale := size / float32(own.Upem())
			l.height = round(size * spacing)
			l.base = round((l.height-(e.Ascender-e.Descender)*scale)/2 + e.Ascender*scale)
		}
	}
	t.Width, t.Height = max(t.Width, x), t.Height+l.height
	t.lines = append(t.lines, l)
}

// Runes is how long the text is.
func (t *Text) Runes() int { return len(t.runes) }

// Slice is a part of the text.
func (t *Text) Slice(from, to int) string { return string(t.runes[from:to]) }

// Lines is how many lines it has.
func (t *Text) Lines() int { return len(t.lines) }

func points(v float32) fixed.Int26_6 { return fixed.Int26_6(v * 64) }
func units(v fixed.Int26_6) float32  { return float32(v) / 64 }
func round(v float32) float32        { return float32(math.Round(float64(v))) }

// FromRight reports whether a line begins at the right.
func (t *Text) FromRight() bool {
	for i := range t.lines {
		if t.lines[i].rtl {
			return true
		}
	}
	return false
}
