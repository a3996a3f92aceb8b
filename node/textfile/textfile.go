// Package textfile reads text files of unknown encoding: UTF-8 that arrives in pieces, and UTF-16.
package textfile

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Incomplete returns the number of bytes at the end of text that may belong to the following bytes:
// the beginning of a character, or a carriage return.
func Incomplete(text []byte) int {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}

// MaxWide is the maximum size of a UTF-16 file that is converted, in bytes.
const MaxWide = 64 << 20

// UTF16 is a UTF-16 file's byte order; nil means that the file is not one.
type UTF16 struct {
	order  byteOrder
	hasBOM bool
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// escapeCharacter begins the color codes of terminals, which recorded output contains.
const escapeCharacter = '\x1b'

// DetectUTF16 detects UTF-16 by its byte order mark, or without one by the zero bytes of ASCII
// characters. [UTF16.Decode] decides finally.
func DetectUTF16(head []byte) *UTF16 {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}): // UTF-32
		return nil
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return &UTF16{binary.LittleEndian, true}
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return &UTF16{binary.BigEndian, true}
	case len(head) < 2 || head[0] != 0 && head[1] != 0: // the usual case, without a look at the rest
		return nil
	}
	return detectByZeros(head[:min(len(head)/2*2, 8<<10)])
}

// detectByZeros detects UTF-16 of mostly ASCII characters: nearly all high bytes are zero, and no
// low byte is.
func detectByZeros(head []byte) *UTF16 {
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	pairs := len(head) / 2
	switch most := pairs - pairs/4; {
	case pairs < 4:
	case zeros[0] == 0 && zeros[1] >= most:
		return &UTF16{binary.LittleEndian, false}
	case zeros[1] == 0 && zeros[0] >= most:
		return &UTF16{binary.BigEndian, false}
	}
	return nil
}

// Decode returns the text after the byte order mark, if there is one. ok is false when the file is
// probably binary: when it contains an invalid or unassigned character or a control character that
// texts do not have, or when more than one character in 20 is for private use.
func (w *UTF16) Decode(raw []byte) (text []byte, ok bool) {
	if len(raw)%2 != 0 {
		return nil, false
	}
	text = make([]byte, 0, len(raw))
	private, all := 0, len(raw)/2
	if w.hasBOM {
		raw = raw[2:]
	}
	for ; len(raw) > 0; raw = raw[2:] {
		r := rune(w.order.Uint16(raw))
		if utf16.IsSurrogate(r) {
			if raw = raw[2:]; len(raw) == 0 {
				return nil, false
			}
			if r = utf16.DecodeRune(r, rune(w.order.Uint16(raw))); r == utf8.RuneError {
				return nil, false
			}
		}
		switch {
		case unicode.Is(unicode.Co, r):
			private++
		case !unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) && r != '\b' && r != escapeCharacter:
			return nil, false
		}
		text = utf8.AppendRune(text, r)
	}
	return text, private*20 <= all
}

// UTF8 returns the text of a UTF-16 file; other data is returned unchanged.
func UTF8(data []byte) []byte {
	if w := DetectUTF16(data); w != nil {
		if text, ok := w.Decode(data); ok {
			return text
		}
	}
	return data
}

// Encode is the reverse of Decode, including the mark. text must be UTF-8.
func (w *UTF16) Encode(text []byte) []byte {
	raw := make([]byte, 0, 2*len(text)+2)
	if w.hasBOM {
		raw = w.order.AppendUint16(raw, 0xfeff)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if a, b := utf16.EncodeRune(r); a != utf8.RuneError {
			raw = w.order.AppendUint16(raw, uint16(a))
			r = b
		}
		raw = w.order.AppendUint16(raw, uint16(r))
	}
	return raw
}
