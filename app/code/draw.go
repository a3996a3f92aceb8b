package code

import (
	"image"
	"math"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/typeset"
	"fairlead/app/widgets"
	"fyne.io/fyne/v2"
)

// CreateRenderer implements fyne.Widget.
func (c *View) CreateRenderer() fyne.WidgetRenderer {
	r := &viewRenderer{c: c, Raster: widgets.NewRaster(c.draw)}
	r.fit()
	return r
}

type viewRenderer struct {
	c *View
	*widgets.Raster
}

func (r *viewRenderer) MinSize() fyne.Size { return r.c.fullSize() }

func (r *viewRenderer) Layout(fyne.Size) { r.fit() }

func (r *viewRenderer) fit() { r.Place(r.c.area()) }

func (r *viewRenderer) Refresh() {
	r.fit()
	r.Redraw()
}

func (r *viewRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.Image} }
func (r *viewRenderer) Destroy()                     {}

// fullSize returns the size of the whole text.
func (c *View) fullSize() fyne.Size {
	cell := Cell()
	return fyne.NewSize(cell.Width*float32(c.columns), cell.Height*float32(len(c.lines)))
}

// area returns the part to draw: the visible one.
func (c *View) area() (fyne.Position, fyne.Size) {
	whole := c.fullSize().Max(c.Size())
	if !c.viewed {
		return fyne.Position{}, whole
	}
	if !c.hasBackgrounds {
		whole.Width = min(whole.Width, c.fullSize().Width) // nothing is drawn beyond the text
	}
	at := fyne.NewPos(max(c.view.X, 0), max(c.view.Y, 0))
	return at, fyne.NewSize(max(min(c.shown.Width, whole.Width-at.X), 0), max(min(c.shown.Height, whole.Height-at.Y), 0))
}

// draw paints the visible part, with … where a line continues beyond it.
func (c *View) draw(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	at, area := c.area()
	if area.Height <= 0 || area.Width <= 0 || len(c.lines) == 0 {
		return img
	}
	cell, size, scale := Cell(), style.Size(style.SizeCode), float32(h)/area.Height
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
		if line.Background != "" {
			fill(0, area.Width, line.Background)
		}
		text := []rune(line.Text())
		mark := func(from, to int, name fyne.ThemeColorName) {
			a, b := max(from-off, 0), min(to-off, len(text))
			if a < b {
				fill(cell.Width*float32(columns(string(text[:a])))-at.X, cell.Width*float32(columns(string(text[:b])))-at.X, name)
			}
		}
		for k, hit := range c.Highlights.Hits {
			mark(hit[0], hit[1], selection.HitColor(k == c.Highlights.Current))
		}
		mark(c.Highlights.From, c.Highlights.To, "selection")
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
			if line.Background != "" {
				fill(from, to, line.Background)
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
