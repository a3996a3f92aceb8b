package ask

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

const maxRedirects = 5

// BaseURL completes an address as people write it: without a scheme, with a trailing slash, or with
// one of the endpoints, in the order in which they are removed. Without an address it is standard.
func BaseURL(address, standard string, endpoints ...string) string {
	if address == "" {
		return standard
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	for _, path := range append([]string{""}, endpoints...) {
		address = strings.TrimRight(strings.TrimSuffix(address, path), "/")
	}
	return address
}

// Request is a request to a model server.
type Request struct {
	URL    string
	Body   any // sent as JSON with POST; nil means GET
	Header map[string]string
	// Refine corrects a failure with details that are specific to the provider; it may be nil.
	Refine func(f *Failure, body []byte)
}

// Send sends a request. The response has a status of success, and the caller closes its body.
func Send(ctx context.Context, o llm.Options, r Request) (*http.Response, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if r.Body != nil {
		data, err := protocol.Marshal(r.Body)
		if err != nil {
			return nil, fmt.Errorf("build request: %w", err)
		}
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, body)
	if err != nil {
		return nil, protocol.ErrModel.With("The address of the model server is wrong: " + err.Error())
	}
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json, application/x-ndjson")
	}
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	resp, err := cmp.Or(o.HTTP, http.DefaultClient).Do(req)
	if err != nil {
		return nil, Unreachable(ctx, req.URL.Host, err)
	}
	return CheckStatus(resp, r.Refine)
}

// Read sends a request and returns the whole body of its response.
func Read(ctx context.Context, o llm.Options, r Request) ([]byte, error) {
	resp, err := Send(ctx, o, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return readAll(ctx, resp)
}

func readAll(ctx context.Context, resp *http.Response) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxLine))
	if err != nil {
		return nil, Unreachable(ctx, resp.Request.URL.Host, err)
	}
	return data, nil
}

// SameServer is the CheckRedirect function for model servers: it follows redirects only within the
// server that the person configured, and only unchanged requests. Otherwise another server would
// get the chat, and also the key, because net/http removes only the Authorization header.
func SameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) <= maxRedirects && req.Method == first.Method && req.URL.Scheme == first.URL.Scheme && req.URL.Host == first.URL.Host {
		return nil
	}
	return http.ErrUseLastResponse
}

// Origin identifies the API and the model that a block's opaque data belongs to.
type Origin struct {
	Wire  string `json:"wire"`
	Model string `json:"model"`
}

// Opaque returns the data for [protocol.Block.Opaque], which contains an Origin; nil if it cannot
// be encoded because a server sent invalid data.
func Opaque(v any) json.RawMessage {
	data, err := protocol.Marshal(v)
	if err != nil {
		return nil
	}
	return data
}

// ReadOpaque decodes a block's opaque data into v, and reports whether it belongs to this API and
// model.
func ReadOpaque(b protocol.Block, o Origin, v any) bool {
	var from Origin
	return json.Unmarshal(b.Opaque, &from) == nil && from == o && json.Unmarshal(b.Opaque, v) == nil
}

// LostImage replaces an image that is no longer stored.
const LostImage = "(an image that is no longer stored)"

// ImageType returns the MIME type of an image.
func ImageType(b protocol.Block) string { return cmp.Or(b.MimeType, "image/png") }

// FunctionTool is a tool in the chat API's form.
type FunctionTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// FunctionTools converts tools.
func FunctionTools(tools []llm.Tool) []FunctionTool {
	var out []FunctionTool
	for _, t := range tools {
		f := FunctionTool{Type: "function"}
		f.Function.Name, f.Function.Description, f.Function.Parameters = t.Name, t.Description, Schema(t.Schema)
		out = append(out, f)
	}
	return out
}

// Schema adds parts that several servers require: an object with properties.
func Schema(s json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(s, &object) != nil || object == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if object["properties"] != nil && object["type"] != nil {
		return s
	}
	for name, value := range map[string]string{"type": `"object"`, "properties": "{}"} {
		if object[name] == nil {
			object[name] = json.RawMessage(value)
		}
	}
	raw, err := protocol.Marshal(object)
	if err != nil {
		return s
	}
	return raw
}

// MaxLine is the longest accepted line, event and list of models, in bytes. An image from a model
// is one line.
const MaxLine = 32 << 20

var errTooLong = errors.New("a line of the answer is longer than 32 MiB")

// lines yields lines that end in LF or CRLF, each as soon as its end has arrived and valid until
// the next one. A last line without an end is yielded too, unless reading fails.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(nil, MaxLine+2)
		for s.Scan() {
			if s.Err() == nil && !yield(s.Bytes(), nil) {
				return
			}
		}
		switch err := s.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, errTooLong)
		case err != nil:
			yield(nil, err)
		}
	}
}

// Event is one server-sent event (WHATWG HTML, 9.2). Multiple lines of data are joined with LF.
type Event struct {
	Name string
	Data []byte // valid until the next event
}

// events yields server-sent events with data; comments and other fields are skipped. Unlike a
// browser it also yields a last event without an empty line after it, because some servers close
// directly after it.
func events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var ev Event
		var data []byte
		hasData := false
		for line, err := range lines(r) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			if len(line) == 0 {
				ev.Data = data
				if hasData && !yield(ev, nil) {
					return
				}
				ev, data, hasData = Event{}, data[:0], false
				continue
			}
			field, value, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				ev.Name = string(value)
			case "data":
				if hasData {
					data = append(data, '\n')
				}
				if len(data)+len(value) > MaxLine {
					yield(Event{}, errTooLong)
					return
				}
				data, hasData = append(data, value...), true
			}
		}
		ev.Data = data
		if hasData {
			yield(ev, nil)
		}
	}
}

// Events yields the events of a streamed answer, or the whole body of a server that did not stream
// as one event without a name.
func Events(ctx context.Context, resp *http.Response) iter.Seq2[Event, error] {
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "application/json" {
		return func(yield func(Event, error) bool) {
			data, err := readAll(ctx, resp)
			yield(Event{Data: data}, err)
		}
	}
	return withFailures(ctx, resp, events(resp.Body))
}

// Lines yields the lines of a streamed answer.
func Lines(ctx context.Context, resp *http.Response) iter.Seq2[[]byte, error] {
	return withFailures(ctx, resp, lines(resp.Body))
}

// withFailures converts the errors of a body to those of [Unreachable].
func withFailures[T any](ctx context.Context, resp *http.Response, list iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range list {
			if err != nil {
				err = Unreachable(ctx, resp.Request.URL.Host, err)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}
