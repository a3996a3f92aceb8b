package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// orientedPhoto returns a photograph with the given orientation, whose top left corner is red for
// the viewer.
func orientedPhoto(t *testing.T, order binary.AppendByteOrder, orientation uint16) []byte {
	w, h := 240, 120
	redX, redY := 0, 0 // the viewer's top left corner in the file
	switch orientation {
	case 2:
		redX = 1
	case 3:
		redX, redY = 1, 1
	case 4:
		redY = 1
	case 6:
		redY = 1
	case 7:
		redX, redY = 1, 1
	case 8:
		redX = 1
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{B: 255, A: 255}
			if x*2/w == redX && y*2/h == redY {
				c = color.NRGBA{R: 255, A: 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	tiff := []byte("MM\x00\x2a")
	if order.String() == binary.LittleEndian.String() {
		tiff = []byte("II\x2a\x00")
	}
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, entry := range [][2]uint16{{0x010f, 7}, {0x0112, orientation}} {
		tiff = order.AppendUint16(tiff, entry[0])
		tiff = order.AppendUint16(tiff, 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(tiff, entry[1])
		tiff = order.AppendUint16(tiff, 0)
	}
	exif := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(exif)+2))...)
	return append(append(out, exif...), b.Bytes()[2:]...)
}

func TestAPhotographIsShownUpright(t *testing.T) {
	for o := uint16(1); o <= 8; o++ {
		order := []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian}[o%2]
		p, err := Open(orientedPhoto(t, order, o))
		if err != nil {
			t.Fatal(o, err)
		}
		img := p.Fit(180)
		w, h := img.Bounds().Dx(), img.Bounds().Dy()
		if (h > w) != (o >= 5) || max(w, h) != 180 {
			t.Errorf("%d: got %d × %d, want the larger side 180, upright from orientation 5", o, w, h)
		}
		for _, p := range []struct {
			x, y int
			red  bool
		}{{w / 4, h / 4, true}, {3 * w / 4, h / 4, false}, {w / 4, 3 * h / 4, false}, {3 * w / 4, 3 * h / 4, false}} {
			if r, _, b, _ := img.At(p.x, p.y).RGBA(); (r > b) != p.red {
				t.Errorf("%d: at %d, %d it is %v, want red: %v", o, p.x, p.y, img.At(p.x, p.y), p.red)
			}
		}
	}
}

func FuzzOrientation(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00II\x2a\x00\xff\xff\xff\xff"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o := orientation(data, "jpeg"); o < 1 || o > 8 {
			t.Errorf("got %v; want o at least 1 and o at most 8", o)
		}
	})
}
