package message

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Events returns the stream of server-sent events in body with checked messages. Events that are no
// messages and those that are too long are left out. Closing it closes body.
func (c Checker) Events(body io.ReadCloser) io.ReadCloser {
	return &events{checker: c, body: body, in: bufio.NewReader(body)}
}

// events is a checked stream. It is read by one goroutine.
type events struct {
	checker Checker
	body    io.Closer
	in      *bufio.Reader
	out     bytes.Buffer // checked, and not read yet
	err     error        // of in
}

func (e *events) Close() error { return e.body.Close() }

func (e *events) Read(into []byte) (int, error) {
	for e.out.Len() == 0 && e.err == nil {
		e.err = e.next()
	}
	if e.out.Len() == 0 {
		return 0, e.err
	}
	return e.out.Read(into)
}

// next adds the next event to out. It returns the error of the stream, if that has ended.
func (e *events) next() error {
	data, other := clipped{limit: MaxBytes}, clipped{limit: maxOther}
	into := (*clipped)(nil) // what the line belongs to; nil at its start
	isMessage := true
	for {
		part, err := e.in.ReadSlice('\n')
		hasEnd := err == nil
		if into == nil && len(part) > 0 {
			field, value, _ := bytes.Cut(bytes.TrimRight(part, "\r\n"), []byte(":"))
			switch string(field) {
			case "":
				if len(value) == 0 && hasEnd { // the end of the event
					e.end(&other, &data, isMessage)
					return nil
				}
				into = &clipped{} // a comment
			case "data":
				if into = &data; data.length > 0 {
					data.add([]byte("\n"))
				}
				part = bytes.TrimPrefix(part[len("data"):], []byte(":"))
				part = bytes.TrimPrefix(part, []byte(" "))
			case "event":
				isMessage = string(bytes.TrimSpace(value)) == "message"
				into = &other
			default:
				into = &other
			}
		}
		if into == &data {
			part = bytes.TrimRight(part, "\r\n")
		}
		if into != nil {
			into.add(part)
		}
		if hasEnd {
			into = nil
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			e.end(&other, &data, isMessage)
			return err
		}
	}
}

// end writes an event with a checked message.
func (e *events) end(other, data *clipped, isMessage bool) {
	if !isMessage || data.length == 0 {
		e.write(other, data.head.Bytes())
		return
	}
	var msg jsonrpc.Message
	if data.isLong() {
		msg = e.checker.TooLong(data.start(), data.tail)
	} else {
		checked, changed := e.checker.Check(data.head.Bytes())
		if !changed {
			e.write(other, data.head.Bytes())
			return
		}
		msg = checked
	}
	if msg == nil {
		e.write(other, nil)
		return
	}
	raw, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		e.checker.Logf("An answer is left out: %v", err)
	}
	e.write(other, raw)
}

// write writes an event. One without data can have an ID, after which a later request continues.
func (e *events) write(other *clipped, data []byte) {
	if other.length == 0 && len(data) == 0 {
		return
	}
	if e.out.Write(other.head.Bytes()); other.isLong() {
		e.out.WriteByte('\n')
	}
	for line := range bytes.Lines(data) {
		fmt.Fprintf(&e.out, "data: %s\n", bytes.TrimRight(line, "\r\n"))
	}
	e.out.WriteByte('\n')
}
