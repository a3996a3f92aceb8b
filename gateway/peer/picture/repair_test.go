package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"testing"
)

// chunk returns a chunk of a PNG file.
func chunk(kind string, data []byte, checksum uint32) []byte {
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), kind...)
	return binary.BigEndian.AppendUint32(append(out, data...), checksum)
}

// withChunk returns a PNG picture with another chunk after its header.
func withChunk(t *testing.T, more []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	const header = len(pngHeader) + 25
	return bytes.Join([][]byte{b.Bytes()[:header], more, b.Bytes()[header:]}, nil)
}

func TestAWrongChecksumOfAnExtraDoesNotMatter(t *testing.T) {
	for _, kind := range []string{"iCCP", "tEXt", "gAMA", "eXIf"} {
		data := withChunk(t, chunk(kind, []byte("abcd"), 1))
		p, err := Open(data)
		if err != nil || p.Fit(10).Bounds().Dx() != 3 {
			t.Errorf("%s with a wrong checksum: %v; want no error", kind, err)
		}
	}
	if _, err := Open(withChunk(t, chunk("IDAT", []byte("abcd"), 1))); err == nil {
		t.Error("a wrong checksum of the pixels was accepted")
	}
}

func TestRepairLeavesWholePicturesAlone(t *testing.T) {
	text := []byte("a comment")
	data := withChunk(t, chunk("tEXt", text, crc32.ChecksumIEEE(append([]byte("tEXt"), text...))))
	if got := Repair(data); !bytes.Equal(got, data) {
		t.Errorf("the picture became %q, want %q", got, data)
	}
}

func FuzzRepair(f *testing.F) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2)), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(pngHeader))
	f.Add([]byte(pngHeader + "\xff\xff\xff\xfftEXt\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := Repair(data); len(got) > len(data) {
			t.Errorf("%d bytes became %d, want at most as many", len(data), len(got))
		}
	})
}
