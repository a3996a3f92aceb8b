package media

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"

	"fairlead/gateway/peer/picture"
)

// Limits that every provider accepts. Anthropic is the strictest: 5 MB in base64, 2000 pixels a
// side when there are many pictures.
const (
	maxSide     = 2000
	smallSide   = 1568 // longest side of a reduced picture; providers reduce to this size themselves
	maxPicture  = 3_700_000
	maxPictures = 20         // the newest pictures of a conversation
	maxTotal    = 14_000_000 // bytes of all pictures together
)

var takenByModels = map[string]bool{"jpeg": true, "png": true, "gif": true, "webp": true}

// fit returns a picture that models accept: data itself, or a smaller picture or another format.
// changed reports a conversion.
func fit(data []byte) (out []byte, changed bool, err error) {
	cfg, format, err := picture.Config(data)
	if err != nil {
		return nil, false, err
	}
	if takenByModels[format] && cfg.Width <= maxSide && cfg.Height <= maxSide && len(data) <= maxPicture {
		return data, false, nil
	}
	src, err := picture.Open(data)
	if err != nil {
		return nil, false, err
	}
	for side := smallSide; ; side = side * 3 / 4 {
		out, err = encode(src.Fit(side))
		if err != nil || len(out) <= maxPicture || side < 200 {
			return out, true, err
		}
	}
}

// encode encodes photographs as JPEG, and pictures with transparency as PNG.
func encode(img *image.NRGBA) ([]byte, error) {
	var b bytes.Buffer
	if !img.Opaque() {
		err := png.Encode(&b, img)
		return b.Bytes(), err
	}
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 88})
	return b.Bytes(), err
}
