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

// eye looks at the screen without a program of its own for each look.
type eye struct {
	c    *xgb.Conn
	root xproto.Window
}

func newEye() (*eye, error) {
	xgb.Logger = log.New(io.Discard, "", 0)
	c, err := xgb.NewConn()
	if err != nil {
		return nil, err
	}
	return &eye{c, xproto.Setup(c).DefaultScreen(c).Root}, nil
}

// look takes a picture of a part of the screen.
func (e *eye) look(w window) (*image.RGBA, error) {
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

func keep(pic image.Image, path string) error {
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
