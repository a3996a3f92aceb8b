// Package typeset lays out text in lines and draws it into pictures. Compared to Fyne's text it
// adds: a paragraph with several styles as one picture, drawn from cached glyphs; line breaking by
// the rules of each script (UAX 14); right-to-left text (UAX 9); and conversion between positions
// in the picture and in the text.
//
// Sizes are in Fyne's units, scale in pixels per unit. All belongs to the GUI thread.
package typeset

import (
	"math"
	"slices"
	"sort"

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
	Pad   float32 // space before and after it
}

// Text is laid-out text. It is immutable.
type Text struct {
	// Width is the width of the widest line, Height the height of all.
	Width, Height float32

	lines []line
	runes []rune
}

type line struct {
	y, height, base float32 // base is the distance from y to the baseline
	from, to        int     // runes, without the line break
	rtl             bool
	parts           []part // from left to right
}

// part is a sequence of glyphs of one font and style on one line.
type part struct {
	x, width float32
	run      int
	face     *font.Face
	size     float32
	rtl      bool
	from, to int
	glyphs   []glyph // from left to right
}

type glyph struct {
	id       font.GID
	x, y     float32 // relative to the start of the line
	advance  float32
	from     int // first rune of its cluster
	count    int
	coloured *shaping.Glyph // a bitmap, such as an emoji
	em       float32        // font size for coloured
}

var (
	shaper    shaping.HarfbuzzShaper
	segmenter shaping.Segmenter
	wrapper   shaping.LineWrapper
)

// LayOut breaks runs into lines of at most width; 0 is unlimited. spacing is the relative height.
func LayOut(runs []Run, width, spacing float32) *Text {
	t := &Text{}
	ends := make([]int, len(runs)) // end of each run, in runes
	for i, r := range runs {
		t.runes = append(t.runes, []rune(r.Text)...)
		ends[i] = len(t.runes)
	}
	for from := 0; ; {
		to := from
		for to < len(t.runes) && t.runes[to] != '\n' {
			to++
		}
		t.layOutParagraph(runs, ends, from, to, width, spacing)
		if to == len(t.runes) {
			break
		}
		from = to + 1
	}
	return t
}

// layOutParagraph lays out the text between two line breaks.
func (t *Text) layOutParagraph(runs []Run, ends []int, from, to int, width, spacing float32) {
	text := t.runes[from:to]
	deep, level := levels(text, -1)
	h := paragraphLayout{offset: from, levels: deep, base: level, runs: runs}
	dir := runDirection(level)
	var outs []shaping.Output
	begin := 0
	for i, r := range runs {
		a, b := max(begin, from), min(ends[i], to)
		begin = ends[i]
		if a >= b {
			continue
		}
		f, first := facesFor(r.Style), len(outs)
		for a < b {
			end := h.levelEnd(a, b)
			in := shaping.Input{
				Text: text, RunStart: a - from, RunEnd: end - from, Direction: runDirection(h.level(a)), Size: points(r.Style.Size),
				Script: language.Common, Language: language.NewLanguage("en"),
			}
			for _, part := range segmenter.Split(in, f) {
				part.Direction = in.Direction // the shaper sees only a part of the paragraph
				for _, piece := range useOwnSpaces(part, f.all[0]) {
					outs = append(outs, shaper.Shape(piece))
					h.of = append(h.of, i)
				}
			}
			a = end
		}
		pad(outs[first:], points(r.Pad))
	}
	if len(outs) == 0 {
		size := float32(14)
		for i := range runs {
			size = runs[i].Style.Size
			if ends[i] >= from {
				break
			}
		}
		high := round(size * spacing)
		t.lines = append(t.lines, line{y: t.Height, height: high, base: high * 0.75, from: from, to: to, rtl: level == 1})
		t.Height += high
		return
	}
	limit := fixed.Int26_6(math.MaxInt32)
	if width > 0 {
		limit = points(width)
	}
	config := shaping.WrapConfig{Direction: dir, BreakPolicy: shaping.WhenNecessary}
	h.outs = outs
	lines, _ := wrapper.WrapParagraphF(config, limit, text, shaping.NewSliceIterator(outs))
	for _, l := range lines {
		t.addLine(&h, l, spacing)
	}
}

// pad adds space before and after the shaped pieces of a run.
func pad(outs []shaping.Output, by fixed.Int26_6) {
	if by == 0 || len(outs) == 0 {
		return
	}
	first, last := &outs[0], &outs[len(outs)-1]
	first.Glyphs[0].XOffset += by
	first.Glyphs[0].Advance += by
	first.Advance += by
	last.Glyphs[len(last.Glyphs)-1].Advance += by
	last.Advance += by
}

// useOwnSpaces splits off spaces from parts in a fallback font, where they are too wide.
func useOwnSpaces(in shaping.Input, own *font.Face) []shaping.Input {
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
		piece.RunStart, piece.RunEnd = from, to
		if in.Text[from] == ' ' {
			piece.Face = own
		}
		list = append(list, piece)
		from = to
	}
	return list
}

// paragraphLayout is the text between two line breaks.
type paragraphLayout struct {
	offset int // index of its first rune in the text
	levels []uint8
	base   uint8
	runs   []Run
	outs   []shaping.Output
	of     []int // run index of each of outs
}

func (h *paragraphLayout) level(at int) uint8 { return h.levels[at-h.offset] }

// levelEnd returns the end of the runes from a to b that have the level of the first.
func (h *paragraphLayout) levelEnd(a, b int) int {
	level := h.level(a)
	for a++; a < b && h.level(a) == level; {
		a++
	}
	return a
}

func (h *paragraphLayout) run(at int) int {
	i := sort.Search(len(h.outs), func(i int) bool { return h.outs[i].Runes.Offset > at }) - 1
	return h.of[max(i, 0)]
}

func runDirection(level uint8) di.Direction {
	if level&1 == 1 {
		return di.DirectionRTL
	}
	return di.DirectionLTR
}

func (t *Text) addLine(h *paragraphLayout, outs shaping.Line, spacing float32) {
	l := line{y: t.Height, rtl: h.base == 1, from: math.MaxInt}
	var parts []part
	var deep []uint8
	size := float32(0)
	for _, o := range outs {
		run := h.run(o.Runes.Offset)
		p := part{
			run: run, face: o.Face, size: h.runs[run].Style.Size, rtl: o.Direction == di.DirectionRTL,
			from: h.offset + o.Runes.Offset, to: h.offset + o.Runes.Offset + o.Runes.Count, glyphs: make([]glyph, 0, len(o.Glyphs)),
		}
		own := facesFor(h.runs[run].Style).all[0]
		for _, g := range o.Glyphs {
			k := glyph{id: g.GlyphID, x: units(g.XOffset), y: -units(g.YOffset), advance: units(g.Advance), from: h.offset + g.TextIndex(), count: g.RunesCount()}
			if o.Face != own {
				if _, outline := o.Face.GlyphData(g.GlyphID).(font.GlyphOutline); !outline {
					k.coloured, k.em = &g, h.runs[run].Style.Size
				}
			}
			p.glyphs = append(p.glyphs, k)
		}
		parts, deep = append(parts, p), append(deep, h.level(p.from))
		l.from, l.to = min(l.from, p.from), max(l.to, p.to)
		if p.size > size {
			size = p.size
			e, _ := own.FontHExtents()
			scale := size / float32(own.Upem())
			l.height = round(size * spacing)
			l.base = round((l.height-(e.Ascender-e.Descender)*scale)/2 + e.Ascender*scale)
		}
	}
	parts, deep = h.moveSpacesLast(parts, deep, l.from+trailingSpaces(t.runes[l.from:l.to]))
	x := float32(0)
	for _, i := range visualOrder(deep) {
		p := parts[i]
		p.x = x
		for k := range p.glyphs {
			p.glyphs[k].x += p.width
			p.width += p.glyphs[k].advance
		}
		x += p.width
		l.parts = append(l.parts, p)
	}
	t.Width, t.Height = max(t.Width, x), t.Height+l.height
	t.lines = append(t.lines, l)
}

// moveSpacesLast moves trailing spaces to the end of the line (L1), where they get no width.
func (h *paragraphLayout) moveSpacesLast(parts []part, deep []uint8, from int) ([]part, []uint8) {
	for i := 0; i < len(parts); i++ {
		p := &parts[i]
		if p.to <= from || deep[i] == h.base {
			continue
		}
		if p.from < from { // only a part of it
			before, after := *p, *p
			before.to, after.from = from, from
			before.glyphs, after.glyphs = nil, nil
			for _, k := range p.glyphs {
				if k.from < from {
					before.glyphs = append(before.glyphs, k)
				} else {
					after.glyphs = append(after.glyphs, k)
				}
			}
			parts[i] = before
			parts, deep = slices.Insert(parts, i+1, after), slices.Insert(deep, i+1, deep[i])
			continue
		}
		deep[i], p.rtl = h.base, h.base == 1
		slices.SortFunc(p.glyphs, func(a, b glyph) int {
			if p.rtl {
				a, b = b, a
			}
			return a.from - b.from
		})
		for k := range p.glyphs {
			p.glyphs[k].advance = 0
		}
	}
	return parts, deep
}
