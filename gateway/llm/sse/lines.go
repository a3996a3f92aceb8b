// Package sse reads the streams of model servers: lines of up to [MaxLine] bytes, and server-sent
// events.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest accepted line and event, in bytes. An image from a model is one line.
const MaxLine = 32 << 20

// ErrTooLong is returned for a line or an event longer than [MaxLine].
var ErrTooLong = errors.New("a line of the answer is longer than 32 MiB")

// Lines reads lines that end in LF, CRLF or a single CR. Create it with [NewLines].
type Lines struct {
	r      *bufio.Reader
	long   []byte
	skipLF bool // the last line ended in CR, so a following LF belongs to it
}

// NewLines reads from r.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, 16<<10)} }

// Next returns the next line without its end, valid until the next call. A last line without an end
// is returned too. The error is io.EOF after the last one, [ErrTooLong], or the reader's.
func (l *Lines) Next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		if l.r.Buffered() == 0 {
			if _, err := l.r.Peek(1); err != nil {
				if errors.Is(err, io.EOF) && len(l.long) > 0 {
					return l.long, nil
				}
				return nil, err
			}
		}
		// A line is returned as soon as its end has arrived, not only when the buffer is full.
		buf, err := l.r.Peek(l.r.Buffered())
		if err != nil {
			return nil, err
		}
		if l.skipLF {
			l.skipLF = false
			if buf[0] == '\n' {
				l.discard(1)
				continue
			}
		}
		end := bytes.IndexAny(buf, "\r\n")
		if end < 0 {
			if len(l.long)+len(buf) > MaxLine {
				return nil, ErrTooLong
			}
			l.long = append(l.long, buf...)
			l.discard(len(buf))
			continue
		}
		if len(l.long)+end > MaxLine {
			return nil, ErrTooLong
		}
		l.long = append(l.long, buf[:end]...)
		l.skipLF = buf[end] == '\r'
		l.discard(end + 1)
		return l.long, nil
	}
}

// discard removes n bytes that are in the buffer.
func (l *Lines) discard(n int) {
	if _, err := l.r.Discard(n); err != nil {
		panic(err)
	}
}
