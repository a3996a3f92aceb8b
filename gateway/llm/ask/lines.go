package ask

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
)

// MaxLine is the longest accepted line, event and list of models, in bytes. An image from a model
// is one line.
const MaxLine = 32 << 20

var errTooLong = errors.New("a line of the answer is longer than 32 MiB")

// lines yields lines that end in LF or CRLF, each as soon as its end has arrived and valid until the
// next one. A last line without an end is yielded too, unless reading fails.
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
				if ev.Data = data; hasData && !yield(ev, nil) {
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
		if ev.Data = data; hasData {
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
