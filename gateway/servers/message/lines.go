package message

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxOther is how much of a text that is no message is passed on, and how much of a message that is
// too long is searched for its ID, in bytes.
const maxOther = 4 << 10

// clipped is a text that can be longer than memory should be: it stores the beginning, and the end of
// a text that is too long.
type clipped struct {
	limit  int
	length int
	head   bytes.Buffer
	tail   []byte
}

func (c *clipped) add(part []byte) {
	c.length += len(part)
	c.head.Write(part[:min(len(part), max(c.limit-c.head.Len(), 0))])
	if c.isLong() {
		c.tail = append(c.tail, part[max(len(part)-maxOther, 0):]...)
		c.tail = c.tail[max(len(c.tail)-maxOther, 0):]
	}
}

func (c *clipped) isLong() bool { return c.length > c.limit }

// start returns the beginning for a log or for the search of an ID.
func (c *clipped) start() []byte { return c.head.Bytes()[:min(c.head.Len(), maxOther)] }

// Lines separates what a server writes to its standard output: messages, one a line, and other lines,
// because some servers print a greeting there. It is used by one goroutine.
type Lines struct {
	Checker Checker
	// Other gets the lines that are no messages.
	Other func(line []byte)

	line clipped
}

// Add takes a part of the output, and returns the messages that it completes.
func (l *Lines) Add(data []byte) (list []jsonrpc.Message) {
	for part := range bytes.Lines(data) {
		if l.line.length == 0 {
			l.line = clipped{limit: maxOther}
			if part[0] == '{' {
				l.line.limit = MaxBytes
			}
		}
		l.line.add(part)
		if part[len(part)-1] != '\n' {
			break
		}
		if msg := l.end(); msg != nil {
			list = append(list, msg)
		}
		l.line = clipped{}
	}
	return list
}

// end takes a complete line.
func (l *Lines) end() jsonrpc.Message {
	switch {
	case l.line.limit != MaxBytes:
		l.Other(append(bytes.TrimRight(l.line.start(), "\n"), '\n'))
		return nil
	case l.line.isLong():
		return l.Checker.TooLong(l.line.start(), l.line.tail)
	}
	msg, _ := l.Checker.Check(l.line.head.Bytes())
	return msg
}

// Close takes the end of the output. A line without an end is not a message.
func (l *Lines) Close() {
	if l.line.length > 0 {
		l.Other(append(bytes.Clone(l.line.start()), '\n'))
	}
}

// Read reads the only message of a stream. The error says why it cannot be read.
func (c Checker) Read(r io.Reader) (jsonrpc.Message, error) {
	body, buffer := clipped{limit: MaxBytes}, make([]byte, 64<<10)
	for {
		n, err := r.Read(buffer)
		body.add(buffer[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if body.isLong() {
		if msg := c.TooLong(body.start(), body.tail); msg != nil {
			return msg, nil
		}
		return nil, fmt.Errorf("it is longer than %d MiB", MaxBytes>>20)
	}
	if msg, _ := c.Check(body.head.Bytes()); msg != nil {
		return msg, nil
	}
	return nil, errors.New("it is not a message")
}
