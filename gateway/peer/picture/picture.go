// Package picture reads pictures that come from anywhere, such as a machine's disk: no larger than memory bears, and the right way up.
package picture

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // of one that moves, the first picture
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

// MaxPixels is how many a picture may have: a file of a few kilobytes can hold one that needs all of the memory.
const MaxPixels = 100_000_000

// Config is a picture's size and its format, such as "jpeg", by the beginning of its file. One that has more than [MaxPixels] is an error.
func Config(data []byte) (image.Config, string, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return c, "", fmt.Errorf("read the picture: %w", err)
	case c.Width <= 0 || c.Height <= 0 || c.Width > MaxPixels/c.Height:
		return c, format, fmt.Errorf("the picture has %d × %d pixels, too many", c.Width, c.Height)
	}
	return c, format, nil
}

// Picture is one that was read.
type Picture struct {
	src  image.Image
	held int // of its camera, as orientation says
}

// Open reads a picture: PNG, JPEG, GIF, WebP or BMP. It takes as long as a large one needs, up to seconds, and 4 to 8 bytes of memory for each pixel.
func Open(data []byte) (Picture, error) {
	_, format, err := Config(data)
	if err != nil {
		return Picture{}, err
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Picture{}, fmt.Errorf("read the picture: %w", err)
	}
	return Picture{src, orientation(data, format)}, nil
}

// Fit is the picture as a person would see it, its longer side at most side pixels. The caller owns it.
func (p Picture) Fit(side int) *image.NRGBA { return upright(scale(p.src, side), p.held) }

// scale makes a picture's longer side at most side pixels.
func scale(src image.Image, side int) *image.NRGBA {
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	if longer := max(w, h); longer > side {
		w, h = max(w*side/longer, 1), max(h*side/longer, 1)
	}
	dst := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	return dst
}
