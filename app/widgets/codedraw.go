package widgets

import (
	"image"
	"math"

	"fairlead/app/style"
	"fairlead/app/typeset"
	"fyne.io/fyne/v2"
)

// CreateRenderer implements fyne.Widget.
func (c *Code) CreateRenderer() fyne.WidgetRenderer {
	r := &codeRenderer{c: c, picture: newPicture(c.draw)}
	r.fit()
	return r
}

type codeRenderer struct {
	c *Code
	*picture
}

func (r *codeRenderer) MinSize() fyne.Size { return r.c.full() }

func (r *codeRenderer) Layout(fyne.Size) { r.fit() }

func (r *codeRenderer) fit() { r.place(r.c.area()) }

func (r *codeRenderer) Refresh() {
	r.fit()
	r.renew()
}

func (r *codeRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.raster} }
func (r *codeRenderer) Destroy()                     {}

// full returns the size of the whole text.
func (c *Code) full() fyne.Size {
	cell := codeCell()
	return fyne.NewSize(cell.Width*float32(c.columns), cell.Height*float32(len(c.lines)))
}

// area returns the part to draw: the visible one.
func (c *Code) area() (fyne.Position, fyne.Size) {
	whole := c.full().Max(c.Size())
	if !c.viewed {
		return fyne.Position{}, whole
	}
	if !c.grounds {
		whole.Width = min(whole.Width, c.full().Width) // nothing is drawn beyond the text
	}
	at := fyne.NewPos(max(c.view.X, 0), max(c.view.Y, 0))
	return at, fyne.NewSize(max(min(c.shown.Width, whole.Width-at.X), 0), max(min(c.shown.Height, whole.Height-at.Y), 0))
}

// draw paints the visible part, with … where a line continues beyond it.
func (c *Code) draw(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	at, area := c.area()
	if area.Height <= 0 || area.Width <= 0 || len(c.lines) == 0 {
		return img
	}
	cell, size, scale := codeCell(), style.Size(style.SizeCode), float32(h)/area.Height
	first := max(int(at.Y/cell.Height), 0)
	for i := first; i < len(c.lines); i++ {
		y := cell.Height*float32(i) - at.Y
		if y >= area.Height {
			break
		}
		line, off := c.lines[i], c.offset(i)
		fill := func(from, to float32, name fyne.ThemeColorName) {
			typeset.Fill(img, from*scale, y*scale, (to-from)*scale, cell.Height*scale, style.Color(name))
		}
		if line.Ground != "" {
			fill(0, area.Width, line.Ground)
		}
		text := []rune(line.text())
		mark := func(from, to int, name fyne.ThemeColorName) {
			a, b := max(from-off, 0), min(to-off, len(text))
			if a < b {
				fill(cell.Width*float32(columns(string(text[:a])))-at.X, cell.Width*float32(columns(string(text[:b])))-at.X, name)
			}
		}
		for k, hit := range c.marks.hits {
			mark(hit[0], hit[1], foundColor(k == c.marks.current))
		}
		mark(c.marks.from, c.marks.to, "selection")
		col := 0
		base := int(math.Round(float64((y + cell.Height*0.72) * scale)))
		for _, s := range line.Spans {
			name := s.Color
			if name == "" {
				name = style.ColorText
			}
			n := columns(s.Text)
			if x := float32(col)*cell.Width - at.X; x < area.Width && x+float32(n)*cell.Width > 0 {
				typeset.Cells(img, s.Text, size, scale, cell.Width, x*scale, base, columns, style.Color(name))
			}
			col += n
		}
		if !c.viewed {
			continue
		}
		// replaces the cut-off text, so that no letter is cut in half
		on := func(from, x, to float32) {
			typeset.Clear(img, from*scale, y*scale, (to-from)*scale, cell.Height*scale)
			if line.Ground != "" {
				fill(from, to, line.Ground)
			}
			typeset.Cells(img, "…", size, scale, cell.Width, x*scale, base, columns, style.Color(style.ColorMuted))
		}
		if at.X > 0.5 && col > 0 {
			x := float32(math.Ceil(float64(at.X/cell.Width-0.05)))*cell.Width - at.X
			on(0, x, x+cell.Width)
		}
		if float32(col)*cell.Width-at.X > area.Width+0.5 {
			x := float32(math.Floor(float64((at.X+area.Width)/cell.Width+0.05))-1)*cell.Width - at.X
			on(x, x, area.Width)
		}
	}
	return img
}
