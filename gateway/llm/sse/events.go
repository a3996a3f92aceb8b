package sse

import (
	"bytes"
	"errors"
	"io"
)

// Event is one server-sent event (WHATWG HTML, 9.2). Multiple lines of data are joined with LF.
type Event struct {
	Name string
	Data []byte // valid until the next call of Next
}

// Events reads server-sent events. Create it with [NewEvents].
type Events struct {
	lines *Lines
	data  []byte
}

// NewEvents reads from r.
func NewEvents(r io.Reader) *Events { return &Events{lines: NewLines(r)} }

// Next returns the next event with data; comments and other fields are skipped. Unlike a browser it
// also returns a last event without an empty line after it, because some servers close directly
// after it. The error is io.EOF at the end.
func (e *Events) Next() (Event, error) {
	var ev Event
	e.data = e.data[:0]
	some := false
	for first := true; ; first = false {
		line, err := e.lines.Next()
		if errors.Is(err, io.EOF) && some {
			return e.event(ev), nil
		}
		if err != nil {
			return Event{}, err
		}
		if first {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(line) == 0 {
			if some {
				return e.event(ev), nil
			}
			ev.Name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			ev.Name = string(value)
		case "data":
			if some {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > MaxLine {
				return Event{}, ErrTooLong
			}
			e.data = append(e.data, value...)
			some = true
		}
	}
}

func (e *Events) event(ev Event) Event {
	ev.Data = e.data
	return ev
}
