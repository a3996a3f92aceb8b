// Package picture decodes pictures from untrusted sources, such as a machine's disk. It limits
// their memory and turns them upright.
package picture

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // of an animation, the first frame
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

// MaxPixels is the maximum size of a picture: a file of a few kilobytes can decode to more than all
// memory.
const MaxPixels = 100_000_000

// Config returns a picture's size and its format, such as "jpeg", from the beginning of its file.
// More than [MaxPixels] pixels are an error.
func Config(data []byte) (image.Config, string, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return c, "", fmt.Errorf("reading the picture: %w", err)
	case c.Width <= 0 || c.Height <= 0 || c.Width > MaxPixels/c.Height:
		return c, format, fmt.Errorf("the picture is too large (%d × %d pixels)", c.Width, c.Height)
	}
	return c, format, nil
}

// Picture is a decoded picture.
type Picture struct {
	src         image.Image
	orientation int // of EXIF, from 1 to 8
}

// Open decodes a picture: PNG, JPEG, GIF, WebP or BMP. A large one takes up to seconds, and 4 to 8
// bytes of memory per pixel.
func Open(data []byte) (Picture, error) {
	_, format, err := Config(data)
	if err != nil {
		return Picture{}, err
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Picture{}, fmt.Errorf("reading the picture: %w", err)
	}
	return Picture{src, orientation(data, format)}, nil
}

// Fit returns the picture upright, scaled so that its longer side has at most side pixels. The
// caller owns it.
func (p Picture) Fit(side int) *image.NRGBA { return upright(scale(p.src, side), p.orientation) }

// scale limits the longer side of a picture to side pixels.
func scale(src image.Image, side int) *image.NRGBA {
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	if longer := max(w, h); longer > side {
		w, h = max(w*side/longer, 1), max(h*side/longer, 1)
	}
	dst := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	return dst
}
