// Package sse reads what model servers stream: lines of any reasonable length, and server-sent events made of them.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest line and the longest event accepted, in bytes. An image that a model made is one line.
const MaxLine = 32 << 20

// ErrTooLong says that a server sent a line or an event over [MaxLine].
var ErrTooLong = errors.New("a line of the answer is longer than 32 MiB")

// Lines reads lines that end in LF, CRLF or a lone CR. Create it with [NewLines].
type Lines struct {
	r      *bufio.Reader
	long   []byte
	skipLF bool // the last line ended in CR, so a LF that follows belongs to it
}

// NewLines reads from r.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, 16<<10)} }

// Next returns the next line without its end, valid until the next call. A last line without an end is a line too. The
// error is io.EOF after the last one, [ErrTooLong], or the reader's.
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
		// All that has arrived: a line is given out as soon as its end is here, not when the buffer is full.
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

// discard drops n bytes that are known to be in the buffer.
func (l *Lines) discard(n int) {
	if _, err := l.r.Discard(n); err != nil {
		panic(err)
	}
}
