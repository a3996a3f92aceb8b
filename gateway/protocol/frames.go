package protocol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Version is the only version of the protocol.
const Version = 1

// Limits of a text frame in bytes. A peer of GSV may send an image of 10 MiB as base64 in one
// frame, and accepts no frame over 16 MiB.
const (
	MaxReadFrame  = 32 << 20
	MaxWriteFrame = 16 << 20
)

// Frame types (docs/protocol.md#frames).
const (
	TypeRequest  = "req"
	TypeResponse = "res"
	TypeEvent    = "evt"
)

// Request asks the peer to run Method. Every request gets exactly one [Response] with the same ID.
type Request struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	// Result has the decoded Params, which are then empty, if they are a large [ToolResultParams].
	Result *ToolResultParams `json:"-"`
}

// Response answers the request with the same ID, with Payload when OK, otherwise with Error.
type Response struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	OK      bool            `json:"ok"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// EventFrame is a message without an answer. The Seq of numbered events starts at 1, without gaps.
type EventFrame struct {
	Type    string          `json:"type"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Seq     *uint64         `json:"seq,omitempty"`
}

// Frame is one decoded text frame: exactly one of its fields is set.
type Frame struct {
	Request  *Request
	Response *Response
	Event    *EventFrame
}

// FrameError reports why a text frame could not be decoded. ID is the frame's ID if it could be
// read, so that an invalid request can be answered instead of leaving its sender waiting.
type FrameError struct {
	ID     string
	Reason string
}

func (e *FrameError) Error() string { return "bad frame: " + e.Reason }

// DecodeFrame decodes one text frame and ignores unknown fields. Fields of other kinds of frame may
// have any type. Any input gives a Frame or a *FrameError, never a panic.
func DecodeFrame(data []byte) (Frame, error) {
	if !utf8.Valid(data) {
		return Frame{}, &FrameError{ID: looseID(data), Reason: "not valid UTF-8"}
	}
	if r := decodeResult(data); r != nil {
		return Frame{Request: r}, nil
	}
	var all struct { // the fields of every kind of frame
		Request
		OK      bool            `json:"ok"`
		Payload json.RawMessage `json:"payload"`
		Error   *Error          `json:"error"`
		Event   string          `json:"event"`
		Seq     *uint64         `json:"seq"`
	}
	if jsonv2.Unmarshal(data, &all, options) != nil {
		return decodeByType(data)
	}
	switch {
	case all.Type == TypeRequest && all.ID != "" && all.Method != "":
		return Frame{Request: &all.Request}, nil
	case all.Type == TypeResponse && all.ID != "":
		return Frame{Response: &Response{Type: all.Type, ID: all.ID, OK: all.OK, Payload: all.Payload, Error: all.Error}}, nil
	case all.Type == TypeEvent && all.Event != "":
		return Frame{Event: &EventFrame{Type: all.Type, Event: all.Event, Payload: all.Payload, Seq: all.Seq}}, nil
	}
	return decodeByType(data)
}

// resultStart begins the result in a frame that [EncodeRequest] wrote.
var resultStart = []byte(`,"result":`)

// decodeResult decodes a large result in the form in which [EncodeRequest] writes it. It reads the
// result once; otherwise [DecodeFrame] and the handler each read it. Nil means that the frame is
// another one.
func decodeResult(data []byte) *Request {
	if len(data) < 64<<10 {
		return nil
	}
	at := bytes.Index(data[:1<<10], resultStart)
	if at < 0 || !bytes.HasSuffix(data, []byte("}}")) {
		return nil
	}
	var head struct {
		Request
		Params ToolResultParams `json:"params"`
	}
	result := data[at+len(resultStart) : len(data)-2]
	if jsonv2.Unmarshal(slices.Concat(data[:at], []byte("}}")), &head, options) != nil || !jsontext.Value(result).IsValid(options) {
		return nil
	}
	if head.Type != TypeRequest || head.ID == "" || head.Method != ReturnResult.Name || len(head.Params.Result) > 0 {
		return nil
	}
	head.Params.Result = bytes.Clone(result)
	head.Request.Result = &head.Params
	return &head.Request
}

// decodeByType decodes a frame with only the fields of its own kind, and says what is wrong with it.
func decodeByType(data []byte) (Frame, error) {
	var head struct {
		Type string `json:"type"`
		ID   any    `json:"id"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		bad := &FrameError{Reason: Problem(err)}
		if strings.Contains(bad.Reason, "exceeded max depth") { // the nesting limit of the decoder, not an invalid frame
			bad.ID, bad.Reason = looseID(data), "nested too deep: at most 10,000 lists and objects within each other"
		}
		return Frame{}, bad
	}
	id, _ := head.ID.(string)
	var f Frame
	var err error
	switch head.Type {
	case TypeRequest:
		f.Request = new(Request)
		err = json.Unmarshal(data, f.Request)
	case TypeResponse:
		f.Response = new(Response)
		err = json.Unmarshal(data, f.Response)
	case TypeEvent:
		f.Event = new(EventFrame)
		err = json.Unmarshal(data, f.Event)
	case "":
		err = errors.New(`no "type"`)
	default:
		err = fmt.Errorf("unknown type %.40q", head.Type)
	}
	switch {
	case err != nil:
		return Frame{}, &FrameError{id, Problem(err)}
	case f.Request != nil && f.Request.ID == "":
		return Frame{}, &FrameError{id, "a request needs a non-empty string id"}
	case f.Request != nil && f.Request.Method == "":
		return Frame{}, &FrameError{id, withoutMethod(data)}
	case f.Response != nil && f.Response.ID == "":
		return Frame{}, &FrameError{id, "a response needs a non-empty string id"}
	case f.Event != nil && f.Event.Event == "":
		return Frame{}, &FrameError{id, "an event needs a name"}
	}
	return f, nil
}

// withoutMethod explains a request without a method. The protocol of GSV since March 2026 names it
// call.
func withoutMethod(data []byte) string {
	var other struct {
		Call string `json:"call"`
	}
	if json.Unmarshal(data, &other) == nil && other.Call != "" {
		return fmt.Sprintf("a request needs a method. A request with %q belongs to the protocol of GSV since March 2026; "+
			"this gateway speaks the one before, protocol 1", "call")
	}
	return "a request needs a method"
}

// Problem explains why JSON could not be decoded, in terms that do not require knowledge of Go.
func Problem(err error) string {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return err.Error()
	}
	if digits, ok := strings.CutPrefix(kind.Value, "number "); ok && kind.Type.Kind() == reflect.Float64 {
		return fmt.Sprintf("%s cannot be read: the number %.40s is out of range", cmp.Or(kind.Field, "the value"), digits)
	}
	want := "another type"
	switch kind.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice, reflect.Array:
		want = "a list"
	case reflect.Struct, reflect.Map:
		want = "an object"
	case reflect.Float32, reflect.Float64:
		want = "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		want = "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		want = "a whole number from 0 on"
	}
	return fmt.Sprintf("%s must be %s, not %s", cmp.Or(kind.Field, "the value"), want, kind.Value)
}

// EncodeRequest builds a request frame. Params that are not valid UTF-8 are an ErrBadRequest. The
// result in [ToolResultParams], which may be large, must be valid JSON; it is not encoded again.
func EncodeRequest(id, method string, params any) ([]byte, error) {
	var result json.RawMessage
	if p, ok := params.(ToolResultParams); ok {
		result, p.Result = p.Result, nil
		params = p
	}
	frame, err := Marshal(struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Method string `json:"method"`
		Params any    `json:"params,omitempty"`
	}{TypeRequest, id, method, params})
	if err != nil {
		return nil, fmt.Errorf("encode params of %s: %w", method, err)
	}
	if len(result) > 0 {
		frame = slices.Concat(bytes.TrimSuffix(frame, []byte("}}")), []byte(`,"result":`), result, []byte("}}"))
	}
	if !utf8.Valid(frame) { // invalid UTF-8 in a RawMessage: the gateway could not read the frame's ID
		return nil, ErrBadRequest.With("params of " + method + " are not valid UTF-8")
	}
	return frame, nil
}

// EncodeResult builds the frame of a successful response. payload may be nil.
func EncodeResult(id string, payload any) ([]byte, error) {
	frame, err := Marshal(struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		OK      bool   `json:"ok"`
		Payload any    `json:"payload,omitempty"`
	}{TypeResponse, id, true, payload})
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return frame, nil
}

// EncodeError builds the frame of a failed response; [AsError] converts err.
func EncodeError(id string, err error) ([]byte, error) {
	return Marshal(Response{Type: TypeResponse, ID: id, Error: AsError(err)})
}

// EncodeEvent builds an event frame. A seq of 0 means that the event is not numbered.
func EncodeEvent(name string, payload any, seq uint64) ([]byte, error) {
	frame, err := Marshal(struct {
		Type    string `json:"type"`
		Event   string `json:"event"`
		Payload any    `json:"payload,omitempty"`
		Seq     uint64 `json:"seq,omitempty"`
	}{TypeEvent, name, payload, seq})
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", name, err)
	}
	return frame, nil
}

// ChunkSize is the most data bytes in a binary frame of Fairlead. Receivers accept any size.
const ChunkSize = 256 << 10

// looseID finds the ID of a frame that the decoder rejects, at any nesting depth: the string member
// "id" of the outermost object. It is empty when none exists, when it is not valid UTF-8, or when
// the text before it is not JSON.
func looseID(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return ""
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return ""
		}
		if name == "id" {
			before := dec.InputOffset()
			id, err := dec.Token()
			text, isText := id.(string)
			if err != nil || !isText || !utf8.Valid(data[before:dec.InputOffset()]) {
				return ""
			}
			return text
		}
		if skipValue(dec) != nil {
			return ""
		}
	}
	return ""
}

// skipValue reads one value, however deep it is nested.
func skipValue(dec *json.Decoder) error {
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
