package markdown

import (
	"image"
	"image/color"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/typeset"
	"fairlead/app/widgets"
	"fyne.io/fyne/v2"
)

// MinSize implements fyne.CanvasObject. The height is that at the current width, as for Fyne's own
// text.
func (p *RichText) MinSize() fyne.Size {
	p.layOut(p.Size().Width)
	if p.width == 0 {
		return fyne.NewSize(40, style.Size("text")*lineHeight)
	}
	return fyne.NewSize(min(40, p.fullSize.Width), p.fullSize.Height)
}

// CreateRenderer implements fyne.Widget.
func (p *RichText) CreateRenderer() fyne.WidgetRenderer {
	return &richTextRenderer{p: p, Raster: widgets.NewRaster(p.draw)}
}

type richTextRenderer struct {
	p *RichText
	*widgets.Raster
}

func (r *richTextRenderer) MinSize() fyne.Size { return r.p.MinSize() }

func (r *richTextRenderer) Layout(size fyne.Size) {
	r.p.layOut(size.Width)
	r.Place(fyne.Position{}, fyne.NewSize(r.p.pictureWidth(), r.p.fullSize.Height))
}

func (r *richTextRenderer) Refresh() {
	r.Layout(r.p.Size())
	r.Redraw()
}

func (r *richTextRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.Image} }

func (r *richTextRenderer) Destroy() {}

// pictureWidth returns the part of the width that has content.
func (p *RichText) pictureWidth() float32 {
	for i := range p.placed {
		if q := &p.paragraphs[i]; q.rule || q.code || p.placed[i].text.FromRight() {
			return p.width
		}
	}
	return min(p.fullSize.Width+1, p.width)
}

// draw paints everything.
func (p *RichText) draw(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	if len(p.placed) == 0 || p.fullSize.Height <= 0 {
		return img
	}
	scale := float32(h) / p.fullSize.Height
	fill := func(x, y, w, h float32, c fyne.ThemeColorName) {
		typeset.Fill(img, x*scale, y*scale, w*scale, h*scale, style.Color(c))
	}
	for i := range p.placed {
		l, q := &p.placed[i], &p.paragraphs[i]
		width := p.textWidth(l)
		for k := range q.quote {
			top := l.y
			if i > 0 && p.paragraphs[i-1].quote > k { // continued from the previous paragraph
				top = p.placed[i-1].y + p.placed[i-1].text.Height
			}
			x := float32(k) * 14
			if l.right > 0 {
				x = p.width - x - 2
			}
			fill(x, top, 2, l.y+l.text.Height-top, style.ColorLine)
		}
		if q.rule {
			fill(0, l.y, p.width, 1, style.ColorLine)
			continue
		}
		if q.code {
			fill(l.left-style.Inside, l.y-4, width+style.Inside, l.text.Height+8, style.ColorCode)
			width -= style.Inside
		}
		boxes := func(from, to int, f func(typeset.Box)) {
			for _, b := range l.text.Boxes(from, to, width) {
				b.X, b.Y = b.X+l.left, b.Y+l.y
				f(b)
			}
		}
		ends := make([]int, len(q.runs))
		from := 0
		for k, r := range q.runs {
			ends[k] = from + len([]rune(r.Text))
			if q.decorations[k].code {
				boxes(from, ends[k], func(b typeset.Box) { fill(b.X-2, b.Y+2, b.Width+4, b.Height-4, style.ColorHover) })
			}
			from = ends[k]
		}
		for k, hit := range p.Highlights.Hits {
			boxes(max(hit[0]-l.offset, 0), hit[1]-l.offset, func(b typeset.Box) {
				fill(b.X, b.Y+1, b.Width, b.Height-2, selection.HitColor(k == p.Highlights.Current))
			})
		}
		if p.Highlights.From < p.Highlights.To {
			boxes(max(p.Highlights.From-l.offset, 0), p.Highlights.To-l.offset, func(b typeset.Box) { fill(b.X, b.Y, b.Width, b.Height, "selection") })
		}
		colour := func(k int) color.Color {
			switch n := q.decorations[k]; {
			case n.link != nil:
				return style.Color(style.ColorAccent)
			case n.color != "":
				return style.Color(n.color)
			}
			return style.Color(style.ColorText)
		}
		l.text.Draw(img, l.left*scale, l.y*scale, scale, width, colour)
		switch {
		case q.bullet == taskOpen, q.bullet == taskDone:
			a, x, y := float32(int(p.size*0.8)), l.left-float32(int(p.size*1.3)), l.y+float32(int(p.size*0.35))
			if l.right > 0 {
				x = p.width - l.right + float32(int(p.size*0.5))
			}
			fill(x, y, a, a, style.ColorMuted)
			typeset.Clear(img, (x+1)*scale, (y+1)*scale, (a-2)*scale, (a-2)*scale)
			if q.bullet == taskDone {
				fill(x+3, y+3, a-6, a-6, style.ColorGood)
			}
		case l.bullet != nil:
			x := l.left - l.bullet.Width - 6*p.size/14
			if l.right > 0 {
				x = p.width - l.right + 6*p.size/14
			}
			l.bullet.Draw(img, x*scale, l.y*scale, scale, 0, func(int) color.Color { return style.Color(style.ColorMuted) })
		}
		from = 0
		for k := range q.runs {
			n := q.decorations[k]
			if n.link != nil && n.link == p.hover {
				boxes(from, ends[k], func(b typeset.Box) { fill(b.X, b.Y+b.Height-4, b.Width, 1, style.ColorAccent) })
			}
			if n.strike {
				boxes(from, ends[k], func(b typeset.Box) { fill(b.X, b.Y+float32(int(b.Height*0.55)), b.Width, 1, style.ColorText) })
			}
			from = ends[k]
		}
	}
	return img
}
