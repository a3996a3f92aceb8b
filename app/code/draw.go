package code

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"iter"
	"math"

	"fyne.io/fyne/v2"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/typeset"
	"fairlead/app/widgets"
)

// picture draws lines, and of those only the visible part.
type picture struct {
	rows   *rows
	text   *selection.Text
	view   fyne.Position // the visible part
	shown  fyne.Size
	viewed bool
}

func newPicture(text *selection.Text, r *rows) *picture { return &picture{rows: r, text: text} }

// renderer draws the text in a widget of this size.
func (p *picture) renderer(size func() fyne.Size) fyne.WidgetRenderer {
	area := func() (fyne.Position, fyne.Size) { return p.area(size()) }
	draw := func(w, h int) image.Image {
		at, shown := area()
		return p.draw(w, h, at, shown)
	}
	return widgets.NewRasterRenderer(draw, p.rows.size, area)
}

// setView sets the visible part. It reports whether that changed.
func (p *picture) setView(at fyne.Position, size fyne.Size) bool {
	if p.viewed && p.view == at && p.shown == size {
		return false
	}
	p.view, p.shown, p.viewed = at, size, true
	return true
}

// area returns the part to draw in a widget of a size: the visible one.
func (p *picture) area(size fyne.Size) (fyne.Position, fyne.Size) {
	whole := p.rows.size().Max(size)
	if !p.viewed {
		return fyne.Position{}, whole
	}
	if !p.rows.hasBackgrounds {
		whole.Width = min(whole.Width, p.rows.size().Width) // nothing is drawn beyond the text
	}
	at := fyne.NewPos(max(p.view.X, 0), max(p.view.Y, 0))
	return at, fyne.NewSize(max(min(p.shown.Width, whole.Width-at.X), 0), max(min(p.shown.Height, whole.Height-at.Y), 0))
}

// draw paints a part of the text, with … where a line continues beyond it.
func (p *picture) draw(w, h int, at fyne.Position, area fyne.Size) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	r := p.rows
	if area.Height <= 0 || area.Width <= 0 || len(r.lines) == 0 {
		return img
	}
	to := painter{text: p.text, isCut: p.viewed, img: img, at: at, area: area, cell: Cell(), size: style.Size(style.SizeCode), scale: float32(h) / area.Height}
	to.gutter = r.gutter
	to.left = r.gutterWidth() - at.X
	for i := max(int(at.Y/to.cell.Height), 0); i < len(r.lines); i++ {
		if to.y = to.cell.Height*float32(i) - at.Y; to.y >= area.Height {
			break
		}
		to.line(r.lines[i], r.offsets[i])
	}
	return img
}

// painter paints the lines of a view.
type painter struct {
	text   *selection.Text
	img    *image.RGBA
	isCut  bool          // only a part of the text is visible
	gutter int           // columns before the text
	at     fyne.Position // of the visible part
	area   fyne.Size
	left   float32 // of the first column of text
	cell   fyne.Size
	size   float32 // of the text
	scale  float32
	y      float32 // of the line
}

func (p *painter) fill(from, to float32, name fyne.ThemeColorName) {
	p.rect(from, 0, to-from, p.cell.Height, style.Color(name))
}

// rect fills a part of the line.
func (p *painter) rect(x, y, w, h float32, c color.Color) {
	typeset.Fill(p.img, x*p.scale, (p.y+y)*p.scale, w*p.scale, h*p.scale, c)
}

func (p *painter) cells(s Span, x float32) {
	base := int(math.Round(float64((p.y + p.cell.Height*baseline) * p.scale)))
	img := p.img
	if s.Italic {
		img = image.NewRGBA(image.Rect(0, int(p.y*p.scale), p.img.Rect.Max.X, int((p.y+p.cell.Height)*p.scale)).Intersect(p.img.Rect))
		defer func() { p.slant(img, base) }()
	}
	paint := func(x float32) {
		typeset.Cells(img, s.Text, p.size, p.scale, p.cell.Width, x*p.scale, base, columns, style.Color(cmp.Or(s.Color, style.ColorText)))
	}
	paint(x)
	if s.Bold { // the monospaced font has only one weight
		paint(x + boldOffset)
	}
}

// slant paints the letters of a line so that they lean to the right: the monospaced font has no
// italic.
func (p *painter) slant(letters *image.RGBA, base int) {
	for y := letters.Rect.Min.Y; y < letters.Rect.Max.Y; y++ {
		row := image.Rect(letters.Rect.Min.X, y, letters.Rect.Max.X, y+1)
		shift := int(math.Round(slantAngle * float64(base-y)))
		draw.Draw(p.img, row.Add(image.Pt(shift, 0)), letters, row.Min, draw.Over)
	}
}

// slantAngle is the tangent of the angle of a slanted letter.
const slantAngle = 0.2

// boldOffset is the distance between the two copies of a bold letter.
const boldOffset = 0.6

// baseline is the position of the baseline in a line.
const baseline = 0.72

// span paints a span of this width at x, except for its background.
func (p *painter) span(s Span, x, width float32) {
	p.cells(s, x)
	c := style.Color(cmp.Or(s.Color, style.ColorText))
	if s.Underline {
		p.rect(x, p.cell.Height*baseline+2, width, 1, c)
	}
	if s.Strike {
		p.rect(x, p.cell.Height/2, width, 1, c)
	}
}

// spans yields the visible spans of a line with their place and width.
func (p *painter) spans(line Line) iter.Seq2[Span, [2]float32] {
	return func(yield func(Span, [2]float32) bool) {
		column := 0
		for _, s := range line.Spans {
			n := columns(s.Text)
			x, w := p.left+float32(column)*p.cell.Width, float32(n)*p.cell.Width
			if x < p.area.Width && x+w > 0 && !yield(s, [2]float32{x, w}) {
				return
			}
			column += n
		}
	}
}

// line paints a line, whose first rune has this index in the text.
func (p *painter) line(line Line, offset int) {
	if line.Background != "" {
		p.fill(0, p.area.Width, line.Background)
	}
	for s, at := range p.spans(line) {
		if s.Background != "" {
			p.rect(at[0], 0, at[1], p.cell.Height, style.Tint(s.Background))
		}
	}
	text := []rune(line.Text())
	highlight := func(from, to int, draw func(from, to float32)) {
		if from, to = max(from-offset, 0), min(to-offset, len(text)); from < to {
			draw(p.left+p.cell.Width*float32(columns(string(text[:from]))), p.left+p.cell.Width*float32(columns(string(text[:to]))))
		}
	}
	for k, hit := range p.text.Hits {
		highlight(hit[0], hit[1], func(from, to float32) { p.hit(from, to, k == p.text.Current) })
	}
	highlight(p.text.From, p.text.To, func(from, to float32) { p.fill(from, to, "selection") })
	if line.Gutter != "" {
		p.cells(Span{Text: line.Gutter, Color: style.ColorMuted}, -p.at.X)
	}
	for s, at := range p.spans(line) {
		p.span(s, at[0], at[1])
	}
	if p.isCut {
		p.ellipses(line, p.gutter+columns(string(text)))
	}
}

// hit fills the background of a search result; the current one has a frame.
func (p *painter) hit(from, to float32, isCurrent bool) {
	p.fill(from, to, style.ColorFound)
	if isCurrent {
		c := style.Color(style.ColorNeedsYou)
		p.rect(from, 0, to-from, 1, c)
		p.rect(from, p.cell.Height-1, to-from, 1, c)
		p.rect(from, 0, 1, p.cell.Height, c)
		p.rect(to-1, 0, 1, p.cell.Height, c)
	}
}

// ellipses replaces text that is cut off by …, so that no letter is cut in half.
func (p *painter) ellipses(line Line, columns int) {
	ellipsis := func(from, x, to float32) {
		typeset.Clear(p.img, from*p.scale, p.y*p.scale, (to-from)*p.scale, p.cell.Height*p.scale)
		if line.Background != "" {
			p.fill(from, to, line.Background)
		}
		p.cells(Span{Text: "…", Color: style.ColorMuted}, x)
	}
	width := p.cell.Width
	if p.at.X > 0.5 && columns > 0 {
		x := float32(math.Ceil(float64(p.at.X/width-0.05)))*width - p.at.X
		ellipsis(0, x, x+width)
	}
	if float32(columns)*width-p.at.X > p.area.Width+0.5 {
		x := float32(math.Floor(float64((p.at.X+p.area.Width)/width+0.05))-1)*width - p.at.X
		ellipsis(x, x, p.area.Width)
	}
}
