package session

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // models take GIF too; a large one is shown by its first picture
	"image/jpeg"
	"image/png"

	_ "golang.org/x/image/bmp" // converted
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

// What every provider takes (Anthropic is the strictest: 5 MB in base64, 2000 pixels a side when there are many pictures).
const (
	maxSide     = 2000
	smallSide   = 1568 // what a picture is made when it is too large; providers make it no larger than this themselves
	maxPicture  = 3_700_000
	maxPixels   = 100_000_000 // a larger one is not decoded
	maxPictures = 20          // newest ones of a conversation
	maxTotal    = 14_000_000  // bytes of all of them
)

var takenByModels = map[string]bool{"jpeg": true, "png": true, "gif": true, "webp": true}

// fit returns a picture that models take: the same when it is one, else a smaller one or another format. changed says which.
func fit(data []byte) (out []byte, changed bool, err error) {
	cfg, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, false, fmt.Errorf("read the picture: %w", err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > maxPixels/cfg.Height {
		return nil, false, fmt.Errorf("the picture has %d × %d pixels, too many", cfg.Width, cfg.Height)
	}
	if takenByModels[format] && cfg.Width <= maxSide && cfg.Height <= maxSide && len(data) <= maxPicture {
		return data, false, nil
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, false, fmt.Errorf("read the picture: %w", err)
	}
	held, side := orientation(data), smallSide
	for {
		out, err = encode(upright(scale(src, side), held))
		if err != nil || len(out) <= maxPicture || side < 200 {
			return out, true, err
		}
		side = side * 3 / 4
	}
}

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

// encode writes a photograph as JPEG, and what is see-through as PNG.
func encode(img *image.NRGBA) ([]byte, error) {
	var b bytes.Buffer
	if !img.Opaque() {
		err := png.Encode(&b, img)
		return b.Bytes(), err
	}
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 88})
	return b.Bytes(), err
}
