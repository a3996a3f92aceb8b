package typeset

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"github.com/go-text/render"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
)

// Draw paints the text into a picture with its top left corner at x, y, in pixels. width is the
// available width, in units. ink returns the colour of each run.
func (t *Text) Draw(dst *image.RGBA, x, y, scale, width float32, ink func(run int) color.Color) {
	for i := range t.lines {
		l := &t.lines[i]
		base := int(y + (l.y+l.base)*scale + 0.5)
		left := x + l.startOffset(width)*scale
		for k := range l.parts {
			p := &l.parts[k]
			c := image.NewUniform(ink(p.run))
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
	c := image.NewUniform(ink)
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
		t := LayOut([]Run{{Text: text[i:end], Style: Style{Mono: true, Size: size}}}, 0, 1)
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

// mask is a drawn glyph; at is its offset from the glyph's origin.
type mask struct {
	at      image.Point
	alpha   *image.Alpha // nil for a blank
	picture *image.RGBA  // replaces alpha
}

// maxMasks is the maximum number of cached glyphs; when it is reached, the cache is cleared.
const maxMasks = 6000

var masks = map[maskKey]*mask{}

func drawGlyph(dst *image.RGBA, face *font.Face, g *glyph, size, x float32, base int, c *image.Uniform) {
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
	at := m.at.Add(image.Pt(whole, base))
	switch {
	case m.picture != nil:
		draw.Draw(dst, m.picture.Rect.Add(at), m.picture, image.Point{}, draw.Over)
	case m.alpha != nil:
		draw.DrawMask(dst, m.alpha.Rect.Add(at), c, image.Point{}, m.alpha, image.Point{}, draw.Over)
	}
}

func glyphMask(face *font.Face, g *glyph, size, shift float32) *mask {
	if g.coloured != nil {
		w, h, up := int(units(g.coloured.Advance)*size/g.em)+2, int(size*1.5)+2, int(size*1.1)+1
		one := *g.coloured
		one.XOffset, one.YOffset = 0, 0
		return &mask{at: image.Pt(0, -up), picture: renderGlyph(face, one, g.em, size/g.em, image.Pt(w, h), up)}
	}
	scale := size / float32(face.Upem())
	box, ok := face.GlyphExtents(g.id)
	w, h := int(box.Width*scale)+3, int(-box.Height*scale)+3 // with a margin for parts of pixels
	if !ok || box.Width <= 0 || box.Height >= 0 || w > 4096 || h > 4096 {
		return &mask{}
	}
	left, up := int(math.Floor(float64(box.XBearing*scale+shift))), int(math.Ceil(float64(box.YBearing*scale)))
	one := shaping.Glyph{GlyphID: g.id, XOffset: points(shift) - fixed.I(left)}
	img := renderGlyph(face, one, size, 1, image.Pt(w, h), up)
	a := image.NewAlpha(img.Rect)
	draw.Draw(a, a.Rect, img, image.Point{}, draw.Src)
	return &mask{at: image.Pt(left, -up), alpha: a}
}

// renderGlyph draws a glyph of font size em into a picture, up pixels above its baseline.
func renderGlyph(face *font.Face, g shaping.Glyph, em, scale float32, size image.Point, up int) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	r := render.Renderer{FontSize: em, PixScale: scale, Color: color.Black}
	r.DrawShapedRunAt(shaping.Output{Face: face, Glyphs: []shaping.Glyph{g}, Size: points(em)}, img, 0, up)
	return img
}

// Fill fills a part of a picture with a colour; in pixels.
func Fill(dst *image.RGBA, x, y, w, h float32, c color.Color) {
	draw.Draw(dst, pixels(x, y, w, h), image.NewUniform(c), image.Point{}, draw.Over)
}

// Clear makes a part of a picture transparent.
func Clear(dst *image.RGBA, x, y, w, h float32) {
	draw.Draw(dst, pixels(x, y, w, h), image.Transparent, image.Point{}, draw.Src)
}

func pixels(x, y, w, h float32) image.Rectangle {
	return image.Rectangle{image.Pt(int(x+0.5), int(y+0.5)), image.Pt(int(x+w+0.5), int(y+h+0.5))}
}

func points(v float32) fixed.Int26_6 { return fixed.Int26_6(v * 64) }
func units(v fixed.Int26_6) float32  { return float32(v) / 64 }
func round(v float32) float32        { return float32(math.Round(float64(v))) }
