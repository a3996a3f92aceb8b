package protocol

import (
	"bytes"
	"encoding/json"
	"sync"
)

// encoder writes JSON into a buffer that is reused.
type encoder struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// keepEncoder is the size in bytes of the largest buffer that is retained for reuse.
const keepEncoder = 64 << 10

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.enc = json.NewEncoder(&e.buf)
	e.enc.SetEscapeHTML(false)
	return e
}}

// encoded returns what write writes, in newly allocated memory.
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

// value writes a value without the encoder's trailing newline.
func (e *encoder) value(v any) error {
	if a, ok := v.(appender); ok {
		if b, ok := a.append(e.buf.AvailableBuffer()); ok {
			e.buf.Write(b)
			return nil
		}
	}
	if err := e.enc.Encode(v); err != nil {
		return err
	}
	e.buf.Truncate(e.buf.Len() - 1)
	return nil
}

// enclose writes a frame in one pass: its head, the value v under key unless v is nil, and its
// tail.
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

// appender is implemented by the types that every tool call carries. They write exactly what
// encoding/json writes, several times faster. appendJSON reports false when encoding/json has to do
// it: for invalid JSON and for JSON with white space.
type appender interface {
	append(b []byte) (out []byte, ok bool)
}

func (p ToolInvokeParams) append(b []byte) ([]byte, bool) {
	b = appendString(append(b, `{"tool":`...), string(p.Tool))
	if len(p.Args) == 0 {
		return append(b, '}'), true
	}
	return appendLast(append(b, `,"args":`...), p.Args)
}

func (p ToolInvokeResult) append(b []byte) ([]byte, bool) {
	return appendLast(append(b, `{"result":`...), p.Result)
}

func (p ToolInvoke) append(b []byte) ([]byte, bool) {
	if len(p.Folders) > 0 {
		return nil, false
	}
	b = appendString(append(b, `{"callId":`...), string(p.CallID))
	b = appendString(append(b, `,"tool":`...), p.Tool)
	b, ok := appendRaw(append(b, `,"args":`...), p.Args)
	if !ok {
		return nil, false
	}
	b = appendTrue(b, `,"preview":`, p.Preview)
	b = appendText(b, `,"expect":`, p.Expect)
	b = appendText(b, `,"approved":`, p.Approved)
	b = appendText(b, `,"policy":`, p.Policy)
	b = appendTrue(b, `,"network":`, p.Network)
	b = appendText(b, `,"idempotencyKey":`, p.IdempotencyKey)
	b = appendText(b, `,"sessionKey":`, string(p.SessionKey))
	b = appendText(b, `,"runId":`, string(p.RunID))
	return append(b, '}'), true
}

func (p ToolResultParams) append(b []byte) ([]byte, bool) {
	b = appendString(append(b, `{"callId":`...), string(p.CallID))
	if len(p.Result) > 0 {
		var ok bool
		if b, ok = appendRaw(append(b, `,"result":`...), p.Result); !ok {
			return nil, false
		}
	}
	return append(appendText(b, `,"error":`, p.Error), '}'), true
}

func (a Ack) append(b []byte) ([]byte, bool) {
	b = append(b, `{"ok":false`...)
	if a.OK {
		b = append(b[:len(b)-len("false")], "true"...)
	}
	return append(appendTrue(b, `,"dropped":`, a.Dropped), '}'), true
}

func appendText(b []byte, key, text string) []byte {
	if text == "" {
		return b
	}
	return appendString(append(b, key...), text)
}

func appendTrue(b []byte, key string, is bool) []byte {
	if !is {
		return b
	}
	return append(append(b, key...), "true"...)
}

// appendLast writes the last member of an object.
func appendLast(b []byte, raw json.RawMessage) ([]byte, bool) {
	b, ok := appendRaw(b, raw)
	return append(b, '}'), ok
}

func appendRaw(b []byte, raw json.RawMessage) ([]byte, bool) {
	if raw == nil {
		return append(b, "null"...), true
	}
	if !json.Valid(raw) {
		return nil, false
	}
	for s := (scanner{data: raw}); s.at < len(raw); {
		switch raw[s.at] {
		case '"':
			s.text()
		case ' ', '\t', '\n', '\r':
			return nil, false
		default:
			s.at++
		}
	}
	return append(b, raw...), true
}
