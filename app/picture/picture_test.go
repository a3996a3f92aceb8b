package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
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
				t.Errorf("%s: got %x, %v; want no error and %q", name, got, err, picture)
			}
		})
	}
}

func TestOnlyPicturesArePasted(t *testing.T) {
	t.Parallel()
	for _, out := range []string{"hello", "«data PNGf8950»", "«data PNGfxyz»", base64.StdEncoding.EncodeToString([]byte("GIF89a")), "«data TIFF4D4D»"} {
		if got, err := decodePicture([]byte(out)); err == nil {
			t.Errorf("%q gives %x, want an error", out, got)
		}
	}
	large := append(bytes.Clone(pngMagic), make([]byte, MaxSize)...)
	if _, err := decodePicture(large); err == nil || !strings.Contains(err.Error(), "10 MB") {
		t.Errorf("a large picture: %v", err)
	}
}

func TestAttachmentsAreCheckedBeforeTheyAreSent(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := Read(write("text.png", []byte("no picture"))); err == nil {
		t.Error("a text is a picture")
	}
	if _, err := Read(write("big.png", make([]byte, 10_600_000))); err == nil || err.Error() != "big.png has 11 MB; pictures can have up to 10 MB" {
		t.Errorf(`a large picture: got %v, want the error "big.png has 11 MB; pictures can have up to 10 MB"`, err)
	}
	if _, err := Read(filepath.Join(dir, "missing")); err == nil || err.Error() != "missing cannot be attached: it no longer exists" {
		t.Errorf(`a missing file: got %v, want the error "missing cannot be attached: it no longer exists"`, err)
	}
	a, err := Read(write("ok.png", []byte("\x89PNG\r\n\x1a\n rest")))
	if err != nil || a.MimeType != "image/png" || a.Filename != "ok.png" {
		t.Errorf(`got %+v, %v; want no error, MimeType "image/png" and Filename "ok.png"`, a, err)
	}
}

func TestPicturesAreSeparatedFromOtherFiles(t *testing.T) {
	dir := t.TempDir()
	photo, text := filepath.Join(dir, "photo"), filepath.Join(dir, "text.png")
	for path, data := range map[string]string{photo: "\x89PNG\r\n\x1a\n rest", text: "no picture"} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pictures, others := Separate([]string{dir, photo, text})
	if !slices.Equal(pictures, []string{photo}) || !slices.Equal(others, []string{dir, text}) {
		t.Errorf("got %q and %q, want the photo apart from the folder and the text", pictures, others)
	}
}
