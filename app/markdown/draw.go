package markdown

import (
	"image"
	"image/color"
	"iter"
	"net/url"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/typeset"
	"fairlead/app/widgets"
)

// MinSize implements fyne.CanvasObject. The height is that at the current width.
func (p *RichText) MinSize() fyne.Size {
	f := p.laidOut()
	if f.width == 0 {
		return fyne.NewSize(40, style.Size("text")*lineHeight)
	}
	return fyne.NewSize(min(40, f.fullSize.Width), f.fullSize.Height)
}

// CreateRenderer implements fyne.Widget.
func (p *RichText) CreateRenderer() fyne.WidgetRenderer {
	return widgets.NewRasterRenderer(p.draw, p.MinSize, func() (fyne.Position, fyne.Size) {
		f := p.laidOut()
		return fyne.Position{}, fyne.NewSize(f.pictureWidth(), f.fullSize.Height)
	})
}

func (p *RichText) draw(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	f := &p.flow
	if len(f.placed) == 0 || f.fullSize.Height <= 0 {
		return img
	}
	scale := float32(h) / f.fullSize.Height
	for i := range f.placed {
		d := painter{flow: f, text: p.text, hover: p.hover, img: img, scale: scale, at: &f.placed[i], paragraph: &f.paragraphs[i]}
		d.width = f.textWidth(d.at)
		d.quoteBars(i)
		if d.paragraph.rule {
			d.fill(0, d.at.y, f.width, 1, style.ColorLine)
			continue
		}
		d.backgrounds()
		d.at.text.Draw(img, d.at.left*scale, d.at.y*scale, scale, d.width, d.color)
		d.bullet()
		d.lines()
	}
	return img
}

// painter paints one paragraph.
type painter struct {
	flow      *flow
	text      *selection.Text
	hover     *url.URL // the link under the mouse
	img       *image.RGBA
	scale     float32
	at        *placedParagraph
	paragraph *paragraph
	width     float32 // of the text
}

func (d *painter) fill(x, y, w, h float32, c fyne.ThemeColorName) {
	typeset.Fill(d.img, x*d.scale, y*d.scale, w*d.scale, h*d.scale, style.Color(c))
}

func (d *painter) boxes(from, to int) iter.Seq[typeset.Box] {
	return func(yield func(typeset.Box) bool) {
		for _, b := range d.at.text.Boxes(max(from, 0), to, d.width) {
			b.X, b.Y = b.X+d.at.left, b.Y+d.at.y
			if !yield(b) {
				return
			}
		}
	}
}

// all yields the decoration of each run, and its range of runes.
func (q *paragraph) all() iter.Seq2[decoration, [2]int] {
	return func(yield func(decoration, [2]int) bool) {
		from := 0
		for k, r := range q.runs {
			to := from + utf8.RuneCountInString(r.Text)
			if !yield(q.decorations[k], [2]int{from, to}) {
				return
			}
			from = to
		}
	}
}

func (d *painter) quoteBars(index int) {
	for k := range d.paragraph.quote {
		top := d.at.y
		if index > 0 && d.flow.paragraphs[index-1].quote > k { // continued from the previous paragraph
			previous := d.flow.placed[index-1]
			top = previous.y + previous.text.Height
		}
		x := widgets.Choose(d.at.right > 0, d.flow.width-float32(k)*14-2, float32(k)*14)
		d.fill(x, top, 2, d.at.y+d.at.text.Height-top, style.ColorLine)
	}
}

// backgrounds paints what is behind the text: code, search results, the selection.
func (d *painter) backgrounds() {
	if d.paragraph.code {
		d.fill(d.at.left-style.Inside, d.at.y-4, d.width+style.Inside, d.at.text.Height+8, style.ColorCode)
		d.width -= style.Inside
	}
	for n, run := range d.paragraph.all() {
		if n.code {
			for b := range d.boxes(run[0], run[1]) {
				d.fill(b.X, b.Y+2, b.Width, b.Height-4, style.ColorHover)
			}
		}
	}
	h, offset := d.text, d.at.offset
	for k, hit := range h.Hits {
		for b := range d.boxes(hit[0]-offset, hit[1]-offset) {
			if k == h.Current { // in a frame
				d.fill(b.X-1, b.Y, b.Width+2, b.Height, style.ColorNeedsYou)
			}
			d.fill(b.X, b.Y+1, b.Width, b.Height-2, style.ColorFound)
		}
	}
	if h.From < h.To {
		for b := range d.boxes(h.From-offset, h.To-offset) {
			d.fill(b.X, b.Y, b.Width, b.Height, "selection")
		}
	}
}

func (d *painter) color(run int) color.Color {
	switch n := d.paragraph.decorations[run]; {
	case n.link != nil:
		return style.Color(style.ColorAccent)
	case n.color != "":
		return style.Color(n.color)
	}
	return style.Color(style.ColorText)
}

// bullet paints the bullet, number or check box before the first line.
func (d *painter) bullet() {
	size, right := d.flow.size, d.at.right > 0
	switch {
	case d.paragraph.bullet == taskOpen, d.paragraph.bullet == taskDone:
		side, x, y := float32(int(size*0.86)), d.at.left-float32(int(size*1.35)), d.at.y+float32(int(size*0.3))
		if right {
			x = d.flow.width - d.at.right + float32(int(size*0.5))
		}
		d.taskBox(x, y, side, d.paragraph.bullet == taskDone)
	case d.at.bullet != nil:
		x := widgets.Choose(right, d.flow.width-d.at.right+6*size/14, d.at.left-d.at.bullet.Width-6*size/14)
		d.at.bullet.Draw(d.img, x*d.scale, d.at.y*d.scale, d.scale, 0, func(int) color.Color { return style.Color(style.ColorMuted) })
	}
}

// taskBox paints the check box of a task, with a check mark if it is done.
func (d *painter) taskBox(x, y, side float32, done bool) {
	d.fill(x, y, side, side, widgets.Choose(done, style.ColorGood, style.ColorMuted))
	if !done {
		typeset.Clear(d.img, (x+1)*d.scale, (y+1)*d.scale, (side-2)*d.scale, (side-2)*d.scale)
		return
	}
	mark := typeset.LayOut([]typeset.Run{{Text: "✓", Style: typeset.Style{Size: side, Bold: true}}}, 0, 1)
	ink := style.Color(style.ColorOnAccent)
	mark.Draw(d.img, (x+(side-mark.Width)/2)*d.scale, (y+(side-mark.Height)/2)*d.scale, d.scale, 0, func(int) color.Color { return ink })
}

// lines paints the line below a link under the mouse, and through deleted text.
func (d *painter) lines() {
	for n, run := range d.paragraph.all() {
		if n.link == nil && !n.strike {
			continue
		}
		for b := range d.boxes(run[0], run[1]) {
			if n.link != nil && n.link == d.hover {
				d.fill(b.X, b.Y+b.Height-4, b.Width, 1, style.ColorAccent)
			}
			if n.strike {
				d.fill(b.X, b.Y+float32(int(b.Height*0.55)), b.Width, 1, style.ColorText)
			}
		}
	}
}
