//go:build desktop

package desktoptest

import (
	"errors"
	"image"
	"image/png"
	"io"
	"log"
	"os"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// screenReader captures the screen without starting a program for each picture.
type screenReader struct {
	c    *xgb.Conn
	root xproto.Window
}

func newScreenReader() (*screenReader, error) {
	xgb.Logger = log.New(io.Discard, "", 0)
	c, err := xgb.NewConn()
	if err != nil {
		return nil, err
	}
	return &screenReader{c, xproto.Setup(c).DefaultScreen(c).Root}, nil
}

// capture captures a part of the screen.
func (e *screenReader) capture(w window) (*image.RGBA, error) {
	r, err := xproto.GetImage(e.c, xproto.ImageFormatZPixmap, xproto.Drawable(e.root), int16(w.x), int16(w.y), uint16(w.w), uint16(w.h), ^uint32(0)).Reply()
	if err != nil {
		return nil, err
	}
	if len(r.Data) != 4*w.w*w.h {
		return nil, errors.New("the screen does not have 24 bits")
	}
	pic := image.NewRGBA(image.Rect(0, 0, w.w, w.h))
	for i := 0; i < len(r.Data); i += 4 {
		pic.Pix[i], pic.Pix[i+1], pic.Pix[i+2], pic.Pix[i+3] = r.Data[i+2], r.Data[i+1], r.Data[i], 255
	}
	return pic, nil
}

// capture captures the visible part of a window, in screen coordinates; if the window closes
// meanwhile, the picture is empty.
func (d *desktop) capture(w window) *image.RGBA {
	d.t.Helper()
	screen := xproto.Setup(d.screen.c).DefaultScreen(d.screen.c)
	r := image.Rect(w.x, w.y, w.x+w.w, w.y+w.h).Intersect(image.Rect(0, 0, int(screen.WidthInPixels), int(screen.HeightInPixels)))
	if r.Empty() {
		return &image.RGBA{}
	}
	pic, err := d.screen.capture(window{w.id, r.Min.X, r.Min.Y, r.Dx(), r.Dy()})
	if err != nil {
		d.t.Fatal(err)
	}
	pic.Rect = r
	return pic
}

// sameAround reports whether two pictures of a region are equal around some points, over the length
// of a short word.
func sameAround(a, b *image.RGBA, points ...image.Point) bool {
	for _, p := range points {
		for y := p.Y - 6; y < p.Y+6; y++ {
			for x := p.X - 12; x < p.X+12; x++ {
				if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
					return false
				}
			}
		}
	}
	return true
}

func savePNG(pic image.Image, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, pic); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
