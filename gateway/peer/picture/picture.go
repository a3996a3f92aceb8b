// Package picture decodes pictures from untrusted sources, such as a machine's disk. It limits
// their memory and turns them upright.
package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	_ "image/gif" // of an animation, the first frame
	_ "image/jpeg"
	_ "image/png"

	"github.com/bep/imagemeta"
	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

// MaxPixels is the maximum size of a picture: a file of a few kilobytes can decode to more than all
// memory.
const MaxPixels = 100_000_000

// ErrTooLarge is the error for a picture of more than [MaxPixels] pixels.
var ErrTooLarge = errors.New("the picture is too large")

// Config returns a picture's size and its format, such as "jpeg", from the beginning of its file.
// More than [MaxPixels] pixels are [ErrTooLarge].
func Config(data []byte) (image.Config, string, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(Repair(data)))
	switch {
	case err != nil:
		return c, "", fmt.Errorf("reading the picture: %w", err)
	case c.Width <= 0 || c.Height <= 0 || c.Width > MaxPixels/c.Height:
		return c, format, fmt.Errorf("%w (%d × %d pixels)", ErrTooLarge, c.Width, c.Height)
	}
	return c, format, nil
}

const pngHeader = "\x89PNG\r\n\x1a\n"

// Repair returns a picture without the parts that do not matter for showing it but make the decoder
// fail: chunks of a PNG file with a wrong checksum that are ancillary (PNG specification, 5.4), such
// as a colour profile. Browsers ignore those, too. It returns other files as they are.
func Repair(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte(pngHeader)) {
		return data
	}
	out, rest := data[:len(pngHeader):len(pngHeader)], data[len(pngHeader):]
	for len(rest) >= 12 {
		size := uint64(binary.BigEndian.Uint32(rest)) + 12 // with the length, the type and the checksum
		if size > uint64(len(rest)) {
			break
		}
		chunk := rest[:size]
		isAncillary := chunk[4]&0x20 != 0
		if !isAncillary || crc32.ChecksumIEEE(chunk[4:size-4]) == binary.BigEndian.Uint32(chunk[size-4:]) {
			out = append(out, chunk...)
		}
		rest = rest[size:]
	}
	return append(out, rest...)
}

// Picture is a decoded picture.
type Picture struct {
	src         image.Image
	orientation int // of EXIF, from 1 to 8
}

// Open decodes a picture: PNG, JPEG, GIF, WebP or BMP. A large one takes up to seconds, and 4 to 8
// bytes of memory per pixel.
func Open(data []byte) (Picture, error) {
	data = Repair(data)
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

// orientation returns the orientation of the camera (EXIF 2.3, tag 0x0112), from 1, upright, to 8;
// 1 if the file has none. The decoder ignores it, so the pixels have to be rotated afterwards.
func orientation(data []byte, format string) int {
	formats := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "webp": imagemeta.WebP}
	value := 1
	if f, ok := formats[format]; ok {
		imagemeta.Decode(imagemeta.Options{ // on an error, the file has no usable orientation
			R: bytes.NewReader(data), ImageFormat: f, Sources: imagemeta.EXIF,
			ShouldHandleTag: func(tag imagemeta.TagInfo) bool { return tag.Tag == "Orientation" && tag.Namespace == "IFD0" },
			HandleTag: func(tag imagemeta.TagInfo) error {
				if n, ok := tag.Value.(uint16); ok && n >= 1 && n <= 8 {
					value = int(n)
				}
				return imagemeta.ErrStopWalking
			},
		})
	}
	return value
}

// upright rotates a picture according to its orientation.
func upright(src *image.NRGBA, orientation int) *image.NRGBA {
	if orientation == 1 {
		return src
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 {
		out = image.NewNRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			toX, toY := x, y
			switch orientation {
			case 2:
				toX = w - 1 - x
			case 3:
				toX, toY = w-1-x, h-1-y
			case 4:
				toY = h - 1 - y
			case 5:
				toX, toY = y, x
			case 6:
				toX, toY = h-1-y, x
			case 7:
				toX, toY = h-1-y, w-1-x
			case 8:
				toX, toY = y, w-1-x
			}
			copy(out.Pix[out.PixOffset(toX, toY):][:4], src.Pix[src.PixOffset(x, y):][:4])
		}
	}
	return out
}
