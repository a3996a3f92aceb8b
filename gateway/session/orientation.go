package session

import (
	"bytes"
	"encoding/binary"
	"image"
)

// Markers and the tag of a JPEG file (JEITA CP-3451, EXIF 2.3).
const (
	jpegScan       = 0xda
	jpegApp1       = 0xe1
	tagOrientation = 0x0112
)

// orientation is how a camera was held when it made a JPEG, from 1, upright, to 8; 1 when the file does not say. What is encoded anew loses what the
// file says, so the picture itself has to be turned.
func orientation(data []byte) int {
	if !bytes.HasPrefix(data, []byte{0xff, 0xd8}) {
		return 1
	}
	for at := 2; at+4 <= len(data) && data[at] == 0xff && data[at+1] != jpegScan; {
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		if size < 2 || at+2+size > len(data) {
			return 1
		}
		body, isExif := bytes.CutPrefix(data[at+4:at+2+size], []byte("Exif\x00\x00"))
		if data[at+1] == jpegApp1 && isExif {
			return exifOrientation(body)
		}
		at += 2 + size
	}
	return 1
}

// exifOrientation looks into the first directory of an EXIF block, which is a TIFF.
func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	start := int64(order.Uint32(tiff[4:]))
	if start+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[start+2:]
	for range order.Uint16(tiff[start:]) {
		if len(entries) < 12 {
			return 1
		}
		if order.Uint16(entries) == tagOrientation {
			if n := int(order.Uint16(entries[8:])); n >= 1 && n <= 8 {
				return n
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}

// upright turns a picture that was made with a camera held as orientation says.
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
