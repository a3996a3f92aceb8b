package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

// anyFrame is the union of all frames, so that one is read in one pass. Every message passes here, and what it carries is decoded by whoever wants it:
// the general decoder takes three times as long for the frame alone.
type anyFrame struct {
	Type, ID, Method, Event string
	Params, Payload         json.RawMessage
	OK                      bool
	Error                   *Error
	Seq                     *uint64
}

// scan reads the fields of a frame that is known to be valid JSON. It reports false when the general decoder must decide: what is not an object, fields of
// another type, and names or short strings that are spelled with escapes or in other cases.
func (f *anyFrame) scan(data []byte) bool {
	s := scanner{data: data}
	if s.space() != '{' {
		return false
	}
	for s.at++; s.space() != '}'; {
		if s.data[s.at] == ',' {
			s.at++
			s.space()
		}
		key, ok := plain(s.value())
		if !ok {
			return false
		}
		s.space()
		s.at++ // the colon
		s.space()
		if !f.set(key, s.value()) {
			return false
		}
	}
	return true
}

func (f *anyFrame) set(key string, value []byte) bool {
	text := func(into *string) (ok bool) {
		if string(value) == "null" {
			return true
		}
		*into, ok = plain(value)
		return ok
	}
	switch key {
	case "type":
		return text(&f.Type)
	case "id":
		return text(&f.ID)
	case "method":
		return text(&f.Method)
	case "event":
		return text(&f.Event)
	case "params":
		f.Params = value
	case "payload":
		f.Payload = value
	case "ok":
		f.OK = string(value) == "true"
		return f.OK || string(value) == "false" || string(value) == "null"
	case "error":
		var e *Error // f must not be what leaves the stack
		err := json.Unmarshal(value, &e)
		f.Error = e
		return err == nil
	case "seq":
		if string(value) == "null" {
			f.Seq = nil
			return true
		}
		n, err := strconv.ParseUint(string(value), 10, 64)
		f.Seq = &n
		return err == nil
	default:
		for _, known := range []string{"type", "id", "method", "event", "params", "payload", "ok", "error", "seq"} {
			if strings.EqualFold(key, known) {
				return false
			}
		}
	}
	return true
}

// scanner walks over valid JSON.
type scanner struct {
	data []byte
	at   int
}

// space skips white space and returns the byte behind it.
func (s *scanner) space() byte {
	for {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
}

// value skips one value and returns it.
func (s *scanner) value() []byte {
	from, depth := s.at, 0
	for {
		switch s.data[s.at] {
		case '"':
			s.text()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\n', '\r':
			s.at++
		default: // a number, true, false or null
			for s.at < len(s.data) && !bytes.ContainsRune([]byte(",:]} \t\n\r"), rune(s.data[s.at])) {
				s.at++
			}
		}
		if depth == 0 {
			return s.data[from:s.at:s.at]
		}
	}
}

// text skips a string.
func (s *scanner) text() {
	for s.at++; ; {
		i := bytes.IndexByte(s.data[s.at:], '"')
		j := bytes.IndexByte(s.data[s.at:s.at+i], '\\')
		if j < 0 {
			s.at += i + 1
			return
		}
		s.at += j + 2
	}
}

// plain returns a string that is written without escapes.
func plain(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return "", false
	}
	return string(value[1 : len(value)-1]), true
}

// encoder writes JSON into memory that the next one uses again.
type encoder struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// keepEncoder is the largest buffer that is kept, in bytes.
const keepEncoder = 64 << 10

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.enc = json.NewEncoder(&e.buf)
	e.enc.SetEscapeHTML(false)
	return e
}}

// encoded gives what write writes, in memory of its own.
func encoded(write func(*encoder) error) ([]byte, error) {
	e := encoders.Get().(*encoder)
	e.buf.Reset()
	defer func() {
		if e.buf.Cap() <= keepEncoder {
			encoders.Put(e)
		}
	}()
	if err := write(e); err != nil {
		return nil, err
	}
	return bytes.Clone(e.buf.Bytes()), nil
}

// value writes a value without the encoder's line end.
func (e *encoder) value(v any) error {
	if err := e.enc.Encode(v); err != nil {
		return err
	}
	e.buf.Truncate(e.buf.Len() - 1)
	return nil
}

// enclose writes a frame in one pass: its head, what it carries under key unless that is nil, and its tail.
func enclose(head func([]byte) []byte, key string, v any, tail string) ([]byte, error) {
	return encoded(func(e *encoder) error {
		e.buf.Write(head(e.buf.AvailableBuffer()))
		if v != nil {
			e.buf.WriteString(`,"`)
			e.buf.WriteString(key)
			e.buf.WriteString(`":`)
			if err := e.value(v); err != nil {
				return err
			}
		}
		e.buf.WriteString(tail)
		e.buf.WriteByte('}')
		return nil
	})
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			raw, _ := Marshal(s) // a string can always be encoded
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
