package typeset

import (
	"image"
	"image/color"
	"math"

	"github.com/go-text/render"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/vector"
)

// Draw paints the text into a picture with its top left corner at x, y, in pixels. width is the
// available width, in units. ink returns the colour of each run.
func (t *Text) Draw(dst *image.RGBA, x, y, scale, width float32, ink func(run int) color.Color) {
	for i := range t.lines {
		l := &t.lines[i]
		base := int(y + (l.y+l.base)*scale + 0.5)
		left := x + l.left(width)*scale
		for k := range l.parts {
			p := &l.parts[k]
			c := premultiplied(ink(p.run))
			for j := range p.glyphs {
				g := &p.glyphs[j]
				drawGlyph(dst, p.face, g, p.size*scale, left+(p.x+g.x)*scale, base+int(math.Round(float64(g.y*scale))), c)
			}
		}
	}
}

// Cells paints text of a monospaced font: the first letter at x, each further one a cell later.
// base is the baseline. All are in pixels. Text that is not ASCII goes through the full layout.
func Cells(dst *image.RGBA, text string, size, scale, cell float32, x float32, base int, columns func(string) int, ink color.Color) {
	c := premultiplied(ink)
	face := facesFor(Style{Mono: true}).all[0]
	col := 0
	for i := 0; i < len(text); {
		if b := text[i]; b < 0x80 {
			if b > ' ' {
				if id, ok := face.NominalGlyph(rune(b)); ok {
					drawGlyph(dst, face, &glyph{id: id}, size*scale, x+float32(col)*cell*scale, base, c)
				}
			}
			col++
			i++
			continue
		}
		end := i
		for end < len(text) && text[end] >= 0x80 {
			end++
		}
		t := LayOut([]Run{{text[i:end], Style{Mono: true, Size: size}}}, 0, 1)
		for k := range t.lines {
			for _, p := range t.lines[k].parts {
				for j := range p.glyphs {
					drawGlyph(dst, p.face, &p.glyphs[j], p.size*scale, x+(float32(col)*cell+p.x+p.glyphs[j].x)*scale, base, c)
				}
			}
		}
		col += columns(text[i:end])
		i = end
	}
}

// maskKey identifies a drawn glyph: at a size in 1/64 pixels and an offset in quarters of a pixel.
type maskKey struct {
	face    *font.Face
	id      font.GID
	size    int32
	quarter uint8
}

// mask is a drawn glyph; x, y is its offset from the glyph's origin.
type mask struct {
	x, y, w, h int
	alpha      []uint8
	picture    *image.RGBA // replaces alpha
}

// maxMasks is the maximum number of cached glyphs; when it is reached, the cache is cleared. An
// alphabet in five styles has about 500.
const maxMasks = 6000

var (
	masks  = map[maskKey]*mask{}
	raster vector.Rasterizer
)

func drawGlyph(dst *image.RGBA, face *font.Face, g *glyph, size, x float32, base int, c color.RGBA) {
	whole := int(math.Floor(float64(x)))
	quarter := uint8((x - float32(whole)) * 4)
	key := maskKey{face, g.id, int32(size * 64), quarter & 3}
	m := masks[key]
	if m == nil {
		if len(masks) >= maxMasks {
			clear(masks)
		}
		m = glyphMask(face, g, size, float32(quarter)/4)
		masks[key] = m
	}
	if m.picture != nil {
		drawOver(dst, m.picture, whole+m.x, base+m.y)
		return
	}
	blend(dst, m, whole+m.x, base+m.y, c)
}

// glyphMask returns a drawn glyph from the cache.
func glyphMask(face *font.Face, g *glyph, size, shift float32) *mask {
	if g.coloured != nil {
		w, h, up := int(units(g.coloured.Advance)*size/g.em)+2, int(size*1.5)+2, int(size*1.1)+1
		img := image.NewRGBA(image.Rect(0, 0, max(w, 1), max(h, 1)))
		r := render.Renderer{FontSize: g.em, PixScale: size / g.em, Color: color.Black}
		one := *g.coloured
		one.XOffset, one.YOffset = 0, 0
		r.DrawShapedRunAt(shaping.Output{Face: face, Glyphs: []shaping.Glyph{one}, Size: points(g.em)}, img, 0, up)
		return &mask{y: -up, picture: img}
	}
	outline, ok := face.GlyphData(g.id).(font.GlyphOutline)
	if !ok || len(outline.Segments) == 0 {
		return &mask{}
	}
	scale := size / float32(face.Upem())
	minX, minY, maxX, maxY := float32(math.MaxFloat32), float32(math.MaxFloat32), float32(-math.MaxFloat32), float32(-math.MaxFloat32)
	for i := range outline.Segments {
		for _, a := range outline.Segments[i].ArgsSlice() {
			x, y := a.X*scale+shift, -a.Y*scale
			minX, maxX, minY, maxY = min(minX, x), max(maxX, x), min(minY, y), max(maxY, y)
		}
	}
	left, top := int(math.Floor(float64(minX))), int(math.Floor(float64(minY)))
	w, h := int(math.Ceil(float64(maxX)))-left, int(math.Ceil(float64(maxY)))-top
	if w <= 0 || h <= 0 || w > 4096 || h > 4096 {
		return &mask{}
	}
	raster.Reset(w, h)
	at := func(p opentype.SegmentPoint) (x, y float32) {
		return p.X*scale + shift - float32(left), -p.Y*scale - float32(top)
	}
	for i := range outline.Segments {
		s := &outline.Segments[i]
		x, y := at(s.Args[0])
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			raster.ClosePath()
			raster.MoveTo(x, y)
		case opentype.SegmentOpLineTo:
			raster.LineTo(x, y)
		case opentype.SegmentOpQuadTo:
			x1, y1 := at(s.Args[1])
			raster.QuadTo(x, y, x1, y1)
		case opentype.SegmentOpCubeTo:
			x1, y1 := at(s.Args[1])
			x2, y2 := at(s.Args[2])
			raster.CubeTo(x, y, x1, y1, x2, y2)
		}
	}
	raster.ClosePath()
	a := image.NewAlpha(image.Rect(0, 0, w, h))
	raster.Draw(a, a.Rect, image.Opaque, image.Point{})
	return &mask{x: left, y: top, w: w, h: h, alpha: a.Pix}
}

// blend draws a colour through a mask onto a picture.
func blend(dst *image.RGBA, m *mask, x, y int, c color.RGBA) {
	x0, x1 := max(0, -x), min(m.w, dst.Rect.Dx()-x)
	for row := max(0, -y); row < m.h && y+row < dst.Rect.Dy(); row++ {
		if x0 >= x1 {
			return
		}
		d := dst.Pix[(y+row)*dst.Stride+(x+x0)*4:]
		for i, a := range m.alpha[row*m.w+x0 : row*m.w+x1] {
			if a == 0 {
				continue
			}
			p := d[i*4 : i*4+4 : i*4+4]
			k := uint32(a)
			rest := 255 - (uint32(c.A)*k+127)/255
			p[0] = uint8((uint32(c.R)*k + uint32(p[0])*rest + 127) / 255)
			p[1] = uint8((uint32(c.G)*k + uint32(p[1])*rest + 127) / 255)
			p[2] = uint8((uint32(c.B)*k + uint32(p[2])*rest + 127) / 255)
			p[3] = uint8((uint32(c.A)*k + uint32(p[3])*rest + 127) / 255)
		}
	}
}

// drawOver draws a picture onto another.
func drawOver(dst, src *image.RGBA, x, y int) {
	for row := max(0, -y); row < src.Rect.Dy() && y+row < dst.Rect.Dy(); row++ {
		for col := max(0, -x); col < src.Rect.Dx() && x+col < dst.Rect.Dx(); col++ {
			s, d := src.Pix[row*src.Stride+col*4:], dst.Pix[(y+row)*dst.Stride+(x+col)*4:]
			rest := 255 - uint32(s[3])
			for i := range 4 {
				d[i] = uint8(uint32(s[i]) + (uint32(d[i])*rest+127)/255)
			}
		}
	}
}

// Fill fills a part of a picture with a colour; in pixels.
func Fill(dst *image.RGBA, x, y, w, h float32, c color.Color) {
	p := premultiplied(c)
	x0, y0, x1, y1 := int(x+0.5), int(y+0.5), int(x+w+0.5), int(y+h+0.5)
	if x1 <= x0 || y1 <= y0 {
		return
	}
	row := make([]uint8, x1-x0)
	for i := range row {
		row[i] = 255
	}
	m := &mask{w: x1 - x0, h: 1, alpha: row}
	for ; y0 < y1; y0++ {
		blend(dst, m, x0, y0, p)
	}
}

// Clear makes a part of a picture transparent.
func Clear(dst *image.RGBA, x, y, w, h float32) {
	r := image.Rect(int(x+0.5), int(y+0.5), int(x+w+0.5), int(y+h+0.5)).Intersect(dst.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		clear(dst.Pix[y*dst.Stride+r.Min.X*4 : y*dst.Stride+r.Max.X*4])
	}
}

func premultiplied(c color.Color) color.RGBA { return color.RGBAModel.Convert(c).(color.RGBA) }
