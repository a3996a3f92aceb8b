package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// anyFrame is the union of all frames, so that a frame is read in one pass. Every message passes
// through here; the general decoder takes three times as long for the frame alone. The payload is
// decoded by its consumer.
type anyFrame struct {
	Type, ID, Method, Event string
	Params, Payload         json.RawMessage
	OK                      bool
	Error                   *Error
	Seq                     *uint64
}

// scan reads the fields of a frame that is known to be valid JSON. It reports false when the
// general decoder has to decide: for anything but an object, for fields of another type, and for
// names or short strings with escapes or in another case.
func (f *anyFrame) scan(data []byte) bool { return Members(data, f.set) }

// Members calls set for each member of an object that is known to be valid JSON, until set reports
// false. It reports whether set accepted every member. It rejects names with escapes, and values
// that are not objects.
func Members(data []byte, set func(name string, value []byte) bool) bool {
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
		if !set(key, s.value()) {
			return false
		}
	}
	return true
}

func (f *anyFrame) set(key string, value []byte) bool {
	switch key {
	case "type":
		return setText(&f.Type, value)
	case "id":
		return setText(&f.ID, value)
	case "method":
		return setText(&f.Method, value)
	case "event":
		return setText(&f.Event, value)
	case "params":
		f.Params = value
	case "payload":
		f.Payload = value
	case "ok":
		return setBool(&f.OK, value)
	case "error":
		var e *Error // outside the closure, so that f does not escape to the heap
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
		return unknown(key, "type", "id", "method", "event", "params", "payload", "ok", "error", "seq")
	}
	return true
}

func setText[T ~string](into *T, value []byte) bool {
	if string(value) == "null" {
		return true
	}
	text, ok := plain(value)
	*into = T(text)
	return ok
}

func setBool(into *bool, value []byte) bool {
	switch string(value) {
	case "true":
		*into = true
	case "false":
		*into = false
	default:
		return string(value) == "null"
	}
	return true
}

// unknown reports whether a name is none of the known ones, ignoring case.
func unknown(name string, known ...string) bool {
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return false
		}
	}
	return true
}

// Decode is json.Unmarshal for the payload of a frame, which is known to be valid JSON or empty.
// The result may share memory with it. The payloads of every tool call are read without the general
// decoder.
func Decode(raw []byte, v any) error {
	if s, ok := v.(interface {
		set(name string, value []byte) bool
	}); ok && len(raw) > 0 && Members(raw, s.set) {
		return nil
	}
	return Unmarshal(raw, v)
}

func (p *ToolInvokeParams) set(name string, value []byte) bool {
	switch name {
	case "tool":
		return setText(&p.Tool, value)
	case "args":
		p.Args = value
		return true
	}
	return unknown(name, "tool", "args")
}

func (p *ToolInvoke) set(name string, value []byte) bool {
	switch name {
	case "callId":
		return setText(&p.CallID, value)
	case "tool":
		return setText(&p.Tool, value)
	case "args":
		p.Args = value
	case "preview":
		return setBool(&p.Preview, value)
	case "expect":
		return setText(&p.Expect, value)
	case "approved":
		return setText(&p.Approved, value)
	case "policy":
		return setText(&p.Policy, value)
	case "network":
		return setBool(&p.Network, value)
	case "folders":
		return false
	case "idempotencyKey":
		return setText(&p.IdempotencyKey, value)
	case "sessionKey":
		return setText(&p.SessionKey, value)
	case "runId":
		return setText(&p.RunID, value)
	default:
		return unknown(name, "callId", "tool", "args", "preview", "expect", "approved", "policy", "network", "folders", "idempotencyKey", "sessionKey", "runId")
	}
	return true
}

func (p *ToolInvokeResult) set(name string, value []byte) bool {
	if name == "result" {
		p.Result = value
		return true
	}
	return unknown(name, "result")
}

func (p *ToolResultParams) set(name string, value []byte) bool {
	switch name {
	case "callId":
		return setText(&p.CallID, value)
	case "result":
		p.Result = value
		return true
	case "error":
		return setText(&p.Error, value)
	}
	return unknown(name, "callId", "result", "error")
}

func (a *Ack) set(name string, value []byte) bool {
	switch name {
	case "ok":
		return setBool(&a.OK, value)
	case "dropped":
		return setBool(&a.Dropped, value)
	}
	return unknown(name, "ok", "dropped")
}

// scanner scans valid JSON.
type scanner struct {
	data []byte
	at   int
}

// space skips white space and returns the next byte.
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

// text skips a string. It looks for the end once, and again only after an escaped quotation mark:
// the text of a file has an escape in every line.
func (s *scanner) text() {
	s.at++
	for end := -1; ; {
		if end < s.at {
			end = s.at + bytes.IndexByte(s.data[s.at:], '"')
		}
		i := bytes.IndexByte(s.data[s.at:end], '\\')
		if i < 0 {
			s.at = end + 1
			return
		}
		s.at += i + 2
	}
}

// plain returns a string that is written without escapes.
func plain(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return "", false
	}
	value = value[1 : len(value)-1]
	if len(value) <= longestKnown {
		if known, ok := wellKnown[string(value)]; ok {
			return known, true
		}
	}
	return string(value), true
}

const longestKnown = 16

// wellKnown are the strings of every tool call, which then need no allocation.
var wellKnown = func() map[string]string {
	words := map[string]string{}
	for _, w := range []string{
		"type", TypeRequest, TypeResponse, TypeEvent, "id", "method", InvokeTool.Name, ReturnResult.Name, "event", EventToolInvoke, "params", "payload", "ok", "seq",
		"tool", "args", "callId", "result",
	} {
		words[w] = w
	}
	return words
}()
