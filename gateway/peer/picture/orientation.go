package picture

import (
	"bytes"
	"image"

	"github.com/bep/imagemeta"
)

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
