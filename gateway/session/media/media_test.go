package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAnAttachmentWithoutANameIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	_, err := New(t.TempDir(), nil, nil).Upload().Attachments(t.Context(), []protocol.Attachment{{Data: "aGVsbG8="}})
	if !errors.Is(err, protocol.ErrBadRequest) || err.Error() != "The attachment is not an image that models can see" {
		t.Errorf("got error %v, want that it is not an image", err)
	}
}

func noiseImage(t *testing.T, w, h int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPicturesAreMadeToFitTheModels(t *testing.T) {
	t.Parallel()
	small := noiseImage(t, 40, 30)
	if out, changed, err := fit(small); err != nil || changed || !bytes.Equal(out, small) {
		t.Errorf("a picture that fits was changed: %v %v; want false and no error", changed, err)
	}
	for name, data := range map[string][]byte{"wide": noiseImage(t, 2400, 20), "heavy": noiseImage(t, 1400, 1400)} {
		t.Run(name, func(t *testing.T) {
			out, changed, err := fit(data)
			cfg, format, decodeErr := image.DecodeConfig(bytes.NewReader(out))
			if err != nil || !changed || decodeErr != nil || format != "jpeg" || len(out) > maxPicture || cfg.Width > smallSide || cfg.Height > smallSide {
				t.Errorf("%s: got %d bytes, %s %+v, error %v, want a small JPEG", name, len(out), format, cfg, err)
			}
		})
	}
	clear := image.NewNRGBA(image.Rect(0, 0, 2100, 10))
	var b bytes.Buffer
	if err := png.Encode(&b, clear); err != nil {
		t.Fatal(err)
	}
	if out, changed, err := fit(b.Bytes()); err != nil || !changed || http.DetectContentType(out) != "image/png" {
		t.Errorf("a transparent picture: got %s, error %v, want image/png", http.DetectContentType(out), err)
	}
	bomb := slices.Clone(small)
	copy(bomb[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 × 65536
	copy(bomb[29:], binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(bomb[12:29])))
	if _, _, err := fit(bomb); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a picture of 4 gigapixels: %v", err)
	}
}

func TestRecordingIsStoredWithoutTranscription(t *testing.T) {
	t.Parallel()
	wav := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt "), make([]byte, 20)...)
	file := protocol.Attachment{Filename: "v.wav", MimeType: "audio/wav", Data: base64.StdEncoding.EncodeToString(wav)}
	got, err := New(t.TempDir(), nil, nil).Upload().Attachments(t.Context(), []protocol.Attachment{file})
	if err != nil || len(got) != 1 || got[0].MediaKey == "" || !strings.HasSuffix(got[0].Text, "nothing here can transcribe]") {
		t.Errorf("got %+v, error %v, want the note that nothing can transcribe", got, err)
	}
}
