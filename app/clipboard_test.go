package app

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestPastedPictureIsFoundInWhatTheSystemsProgramsPrint(t *testing.T) {
	t.Parallel()
	picture := append(bytes.Clone(pngMagic), 0, 1, 2, 250)
	for name, out := range map[string]string{
		"bytes":       string(picture),
		"base64":      base64.StdEncoding.EncodeToString(picture) + "\r\n",
		"AppleScript": "«data PNGf" + strings.ToUpper(hex.EncodeToString(picture)) + "»\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := decodePicture([]byte(out)); err != nil || !bytes.Equal(got, picture) {
				t.Errorf("%s: %x, %v", name, got, err)
			}
		})
	}
}

func TestWhatIsNoPictureIsNotPasted(t *testing.T) {
	t.Parallel()
	for _, out := range []string{"hello", "«data PNGf8950»", "«data PNGfxyz»", base64.StdEncoding.EncodeToString([]byte("GIF89a")), "«data TIFF4D4D»"} {
		if got, err := decodePicture([]byte(out)); err == nil {
			t.Errorf("%q gives %x", out, got)
		}
	}
	large := append(bytes.Clone(pngMagic), make([]byte, maxAttachment)...)
	if _, err := decodePicture(large); err == nil || !strings.Contains(err.Error(), "10 MB") {
		t.Errorf("a large picture: %v", err)
	}
}
