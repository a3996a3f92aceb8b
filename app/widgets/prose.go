package widgets

import (
	"image"
	"image/color"
	"net/url"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/glyph"
	"fairlead/app/look"
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
	runs  []glyph.Run
	inks  []ink   // of each run
	above float32 // space before it, but for the first
	left  float32
	mark  string // before its first line, such as a bullet or a number
	quote int    // how many rules stand at its left
	rule  bool   // a line and no text
	code  bool   // on a ground as wide as the text
	apart string // what stands between it and the one before when both are copied
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

	from, to int      // marked
	hits     [][2]int // found
	current  int      // of hits; -1 is none
	query    string
	hover    *url.URL
	presses  presses
	wrap     float32 // lines break at this width instead of that of the place, which is then as wide as the text
	lead     string
}

type laidPara struct {
	text *glyph.Text
	y    float32
	left float32
	off  int // of its first rune in the whole
	mark *glyph.Text
}

var (
	_ Passage                = (*Prose)(nil)
	_ fyne.Tappable          = (*Prose)(nil)
	_ fyne.SecondaryTappable = (*Prose)(nil)
	_ desktop.Mouseable      = (*Prose)(nil)
	_ desktop.Hoverable      = (*Prose)(nil)
	_ desktop.Cursorable     = (*Prose)(nil)
)

func newProse(paras []para) *Prose {
	p := &Prose{paras: paras, current: -1, lead: "\n\n"}
	p.ExtendBaseWidget(p)
	return p
}

// set shows other paragraphs.
func (p *Prose) set(paras []para) {
	p.paras = paras
	p.from, p.to = 0, 0
	p.key = 0
	p.lay(p.Size().Width)
	p.find()
	p.Refresh()
}

// plainParas shows text as it was written.
func plainParas(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) []para {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\t", "    ")
	return []para{{runs: []glyph.Run{{Text: text, Style: glyph.Style{Size: look.Size(size) / look.Size("text")}}}, inks: []ink{{color: color}}}}
}

// lay breaks the lines for a width. Sizes of runs are parts of the size of text, so that another size needs no other paragraphs.
func (p *Prose) lay(width float32) {
	size := look.Size("text")
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
		runs := make([]glyph.Run, len(q.runs))
		for k, r := range q.runs {
			r.Style.Size *= size
			runs[k] = r
		}
		left := float32(int(q.left * size / 14))
		l := laidPara{y: y, left: left, off: off}
		switch {
		case q.rule:
			l.text = glyph.Lay(nil, 0, 0)
			y += 1
		default:
			inner := width - left
			if q.code {
				inner -= 2 * look.Inside
				l.left, l.y = l.left+look.Inside, l.y+4
			}
			l.text = glyph.Lay(runs, max(inner, 40), lineHeight)
			y += l.text.Height
			if q.code {
				y += 8
			}
			if q.mark != "" {
				l.mark = glyph.Lay([]glyph.Run{{Text: q.mark, Style: glyph.Style{Size: size}}}, 0, lineHeight)
			}
			wide = max(wide, l.left+l.text.Width)
		}
		off += l.text.Runes() + 1
		p.laid = append(p.laid, l)
	}
	p.full = fyne.NewSize(float32(int(wide+1)), float32(int(y+0.5)))
	if p.wrap > 0 {
		p.width = p.full.Width
	}
}

// Words is all the text, as it is copied.
func (p *Prose) Words() string { return p.Slice(0, p.Runes()) }

// Runes is how long the text is, with a rune between paragraphs.
func (p *Prose) Runes() int {
	n := 0
	for i := range p.paras {
		for _, r := range p.paras[i].runs {
			n += len([]rune(r.Text))
		}
		n++
	}
	return max(n-1, 0)
}

// Index is the place in the text that is nearest to a point.
func (p *Prose) Index(at fyne.Position) int {
	p.lay(p.Size().Width)
	for i := range p.laid {
		l := &p.laid[i]
		if at.Y < l.y+l.text.Height || i == len(p.laid)-1 {
			return l.off + l.text.Index(at.X-l.left, at.Y-l.y, p.width-l.left)
		}
	}
	return 0
}

// Select marks a part of the text; nothing when from is to.
func (p *Prose) Select(from, to int) {
	if from > to {
		from, to = to, from
	}
	if p.from != from || p.to != to {
		p.from, p.to = from, to
		p.Refresh()
	}
}

// Slice is a part of the text as it is copied: with bullets, numbers and lines between paragraphs.
func (p *Prose) Slice(from, to int) string {
	var b strings.Builder
	off := 0
	for i := range p.paras {
		q := &p.paras[i]
		var text []rune
		for _, r := range q.runs {
			text = append(text, []rune(r.Text)...)
		}
		a, z := max(from-off, 0), min(to-off, len(text))
		if a <= z && to > off && from <= off+len(text) {
			if b.Len() > 0 {
				b.WriteString(q.apart)
			}
			if a == 0 && q.mark != "" {
				b.WriteString(strings.Repeat("  ", int(max(q.left-20, 0)/20)) + q.mark + " ")
			}
			b.WriteString(string(text[a:z]))
		}
		off += len(text) + 1
	}
	return b.String()
}

// Lead implements [Passage].
func (p *Prose) Lead() string { return p.lead }

// Word is the word at a place, or the paragraph.
func (p *Prose) Word(at int, whole bool) (from, to int) {
	off := 0
	for i := range p.paras {
		var text []rune
		for _, r := range p.paras[i].runs {
			text = append(text, []rune(r.Text)...)
		}
		if at <= off+len(text) {
			if whole {
				return off, off + len(text)
			}
			a, z := wordAround(text, at-off)
			return off + a, off + z
		}
		off += len(text) + 1
	}
	return at, at
}

// Find marks where a text occurs, in whatever case, and says how often it does.
func (p *Prose) Find(query string) int {
	if query != p.query {
		p.query = query
		p.find()
		p.Refresh()
	}
	return len(p.hits)
}

// Current implements [Passage].
func (p *Prose) Current(hit int) fyne.Position {
	if p.current != hit {
		p.current = hit
		p.Refresh()
	}
	if hit < 0 || hit >= len(p.hits) {
		return fyne.Position{}
	}
	p.lay(p.Size().Width)
	for i := range p.laid {
		l := &p.laid[i]
		if at := p.hits[hit][0] - l.off; at >= 0 && at < l.text.Runes() {
			for _, b := range l.text.Boxes(at, at+1, p.width-l.left) {
				return fyne.NewPos(l.left+b.X, l.y+b.Y)
			}
		}
	}
	return fyne.Position{}
}

func (p *Prose) find() {
	p.hits = nil
	if p.query == "" {
		return
	}
	off := 0
	for i := range p.paras {
		var b strings.Builder
		for _, r := range p.paras[i].runs {
			b.WriteString(r.Text)
		}
		text := b.String()
		for _, h := range occurrences(text, p.query) {
			p.hits = append(p.hits, [2]int{off + h[0], off + h[1]})
		}
		off += len([]rune(text)) + 1
	}
}

// linkAt is the link under a point.
func (p *Prose) linkAt(at fyne.Position) *url.URL {
	for i := range p.laid {
		l := &p.laid[i]
		if at.Y < l.y || at.Y >= l.y+l.text.Height {
			continue
		}
		from := 0
		for k, r := range p.paras[i].runs {
			to := from + len([]rune(r.Text))
			if u := p.paras[i].inks[k].link; u != nil {
				for _, b := range l.text.Boxes(from, to, p.width-l.left) {
					if x := at.X - l.left; x >= b.X && x < b.X+b.Width && at.Y-l.y >= b.Y && at.Y-l.y < b.Y+b.Height {
						return u
					}
				}
			}
			from = to
		}
	}
	return nil
}

// Tapped implements fyne.Tappable: it follows a link.
func (p *Prose) Tapped(e *fyne.PointEvent) {
	if u := p.linkAt(e.Position); u != nil && p.OnLink != nil && p.from == p.to {
		p.OnLink(u)
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (p *Prose) TappedSecondary(e *fyne.PointEvent) {
	if p.OnMenu != nil {
		p.OnMenu(e.AbsolutePosition)
	}
}

// MouseDown implements desktop.Mouseable.
func (p *Prose) MouseDown(e *desktop.MouseEvent) {
	if primary(e) && p.OnPress != nil {
		at := p.Index(e.Position)
		p.OnPress(at, p.presses.count(at, time.Now()))
	}
}

// MouseUp implements desktop.Mouseable.
func (p *Prose) MouseUp(*desktop.MouseEvent) {}

// MouseIn implements desktop.Hoverable.
func (p *Prose) MouseIn(e *desktop.MouseEvent) { p.MouseMoved(e) }

// MouseMoved implements desktop.Hoverable: the link under the mouse is underlined.
func (p *Prose) MouseMoved(e *desktop.MouseEvent) {
	if u := p.linkAt(e.Position); u != p.hover {
		p.hover = u
		p.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (p *Prose) MouseOut() {
	if p.hover != nil {
		p.hover = nil
		p.Refresh()
	}
}

// Hover is the link under the mouse.
func (p *Prose) Hover() *url.URL { return p.hover }

// Cursor implements desktop.Cursorable.
func (p *Prose) Cursor() desktop.Cursor {
	switch {
	case p.hover != nil:
		return desktop.PointerCursor
	case p.OnPress != nil:
		return desktop.TextCursor
	}
	return desktop.DefaultCursor
}

// MinSize implements fyne.CanvasObject: as high as it is at its width, like the toolkit's own text.
func (p *Prose) MinSize() fyne.Size {
	p.lay(p.Size().Width)
	if p.width == 0 {
		return fyne.NewSize(40, look.Size("text")*lineHeight)
	}
	return fyne.NewSize(min(40, p.full.Width), p.full.Height)
}

// CreateRenderer implements fyne.Widget.
func (p *Prose) CreateRenderer() fyne.WidgetRenderer {
	r := &proseRenderer{p: p}
	r.raster = canvas.NewRaster(p.draw)
	r.raster.ScaleMode = canvas.ImageScalePixels
	return r
}

type proseRenderer struct {
	p      *Prose
	raster *canvas.Raster
}

func (r *proseRenderer) MinSize() fyne.Size { return r.p.MinSize() }

func (r *proseRenderer) Layout(size fyne.Size) {
	r.p.lay(size.Width)
	r.raster.Resize(fyne.NewSize(r.p.pictureWidth(), r.p.full.Height))
}

func (r *proseRenderer) Refresh() {
	r.Layout(r.p.Size())
	r.raster.Refresh()
}
func (r *proseRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.raster} }
func (r *proseRenderer) Destroy()                     {}

// pictureWidth is as much of the width as something is drawn in.
func (p *Prose) pictureWidth() float32 {
	for i := range p.laid {
		if q := &p.paras[i]; q.rule || q.code || p.laid[i].text.FromRight() {
			return p.width
		}
	}
	return min(p.full.Width+1, p.width)
}

// draw paints everything.
func (p *Prose) draw(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	if len(p.laid) == 0 || p.full.Height <= 0 {
		return img
	}
	scale := float32(h) / p.full.Height
	fill := func(x, y, w, h float32, c fyne.ThemeColorName) {
		glyph.Fill(img, x*scale, y*scale, w*scale, h*scale, look.Color(c))
	}
	for i := range p.laid {
		l, q := &p.laid[i], &p.paras[i]
		width := p.width - l.left
		for k := range q.quote {
			top := l.y
			if i > 0 && p.paras[i-1].quote > k { // on from the paragraph before
				top = p.laid[i-1].y + p.laid[i-1].text.Height
			}
			fill(float32(k)*14, top, 2, l.y+l.text.Height-top, look.ColorLine)
		}
		if q.rule {
			fill(0, l.y, p.width, 1, look.ColorLine)
			continue
		}
		if q.code {
			fill(l.left-look.Inside, l.y-4, width+look.Inside, l.text.Height+8, look.ColorCode)
			width -= look.Inside
		}
		boxes := func(from, to int, f func(glyph.Box)) {
			for _, b := range l.text.Boxes(from, to, width) {
				b.X, b.Y = b.X+l.left, b.Y+l.y
				f(b)
			}
		}
		ends := make([]int, len(q.runs))
		from := 0
		for k, r := range q.runs {
			ends[k] = from + len([]rune(r.Text))
			if q.inks[k].code {
				boxes(from, ends[k], func(b glyph.Box) { fill(b.X-2, b.Y+2, b.Width+4, b.Height-4, look.ColorHover) })
			}
			from = ends[k]
		}
		for k, hit := range p.hits {
			boxes(max(hit[0]-l.off, 0), hit[1]-l.off, func(b glyph.Box) { fill(b.X, b.Y+1, b.Width, b.Height-2, foundColor(k == p.current)) })
		}
		if p.from < p.to {
			boxes(max(p.from-l.off, 0), p.to-l.off, func(b glyph.Box) { fill(b.X, b.Y, b.Width, b.Height, "selection") })
		}
		colour := func(k int) color.Color {
			switch n := q.inks[k]; {
			case n.link != nil:
				return look.Color(look.ColorAccent)
			case n.color != "":
				return look.Color(n.color)
			}
			return look.Color(look.ColorText)
		}
		l.text.Draw(img, l.left*scale, l.y*scale, scale, width, colour)
		switch {
		case q.mark == taskOpen, q.mark == taskDone:
			a, x, y := float32(int(p.size*0.8)), l.left-float32(int(p.size*1.3)), l.y+float32(int(p.size*0.35))
			fill(x, y, a, a, look.ColorMuted)
			glyph.Clear(img, (x+1)*scale, (y+1)*scale, (a-2)*scale, (a-2)*scale)
			if q.mark == taskDone {
				fill(x+3, y+3, a-6, a-6, look.ColorGood)
			}
		case l.mark != nil:
			l.mark.Draw(img, (l.left-l.mark.Width-6*p.size/14)*scale, l.y*scale, scale, 0, func(int) color.Color { return look.Color(look.ColorMuted) })
		}
		from = 0
		for k := range q.runs {
			n := q.inks[k]
			if n.link != nil && n.link == p.hover {
				boxes(from, ends[k], func(b glyph.Box) { fill(b.X, b.Y+b.Height-4, b.Width, 1, look.ColorAccent) })
			}
			if n.strike {
				boxes(from, ends[k], func(b glyph.Box) { fill(b.X, b.Y+float32(int(b.Height*0.55)), b.Width, 1, look.ColorText) })
			}
			from = ends[k]
		}
	}
	return img
}
