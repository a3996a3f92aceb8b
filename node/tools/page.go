package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// maxEncoded is the most that a page may have once it is JSON: control characters become six bytes, and a frame has an end.
const maxEncoded = 12 << 20

var errNotText = errors.New("not UTF-8")

// page is a part of a text with numbered lines.
type page struct {
	content string
	lines   int
	cut     bool // it ends early because it is full
	end     bool // it ends where the file ends
}

// lineRange are limit lines (all when negative) from offset on. skip of the lines before offset are in the reader.
type lineRange struct{ offset, skip, limit int64 }

// numbered reads lines as "{n}\t{line}", joined by line feeds. A line's carriage return is kept. Lines that are skipped cost only the search for
// their ends; what comes after the last is not read. A page of more than most bytes is cut between lines; a line that is too long by itself is
// cut on a character.
func numbered(ctx context.Context, src io.Reader, lr lineRange, most int) (p page, err error) {
	r := bufio.NewReaderSize(src, 32<<10)
	if end, err := skipLines(ctx, r, lr.skip); end || err != nil {
		return page{end: end}, err
	}
	var out []byte
	for lr.limit < 0 || int64(p.lines) < lr.limit {
		if p.lines%4096 == 0 && ctx.Err() != nil {
			return page{}, ctx.Err()
		}
		mark := len(out)
		if p.lines > 0 {
			out = append(out, '\n')
		}
		out = strconv.AppendInt(out, lr.offset+int64(p.lines)+1, 10)
		out = append(out, '\t')
		start := len(out)
		var err error
		for more := true; more && !p.cut; {
			var part []byte
			part, err = r.ReadSlice('\n')
			out = append(out, part...)
			more = errors.Is(err, bufio.ErrBufferFull)
			p.cut = len(bytes.TrimSuffix(out[start:], lineFeed)) > most-start
		}
		switch {
		case p.cut && p.lines > 0:
			out = out[:mark]
		case p.cut:
			out = out[:most]
			out = out[:len(out)-partial(out)]
			p.lines++
		case err != nil && !errors.Is(err, io.EOF):
			return page{}, err
		case err != nil && len(out) == start: // the end, right after a line feed
			out, p.end = out[:mark], true
		default:
			out = bytes.TrimSuffix(out, lineFeed)
			p.lines++
			p.end = err != nil
		}
		if len(out) > start && !utf8.Valid(out[start:]) {
			return page{}, errNotText
		}
		if p.cut || p.end {
			break
		}
	}
	if encodedLen(out) > maxEncoded && most > maxEncoded/6 {
		return page{}, errDense
	}
	p.content = string(out)
	return p, nil
}

// errDense says that a page is too large once it is encoded.
var errDense = errors.New("too many control characters")

// skipLines passes n lines; end says that the text has no more.
func skipLines(ctx context.Context, r *bufio.Reader, n int64) (end bool, err error) {
	for tries := 0; n > 0; tries++ {
		if tries%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		// Whole buffers are counted, which is faster than line by line.
		buf, err := r.Peek(max(r.Buffered(), 1))
		if len(buf) == 0 {
			if errors.Is(err, io.EOF) {
				return true, nil
			}
			return false, err
		}
		if feeds := int64(bytes.Count(buf, lineFeed)); feeds < n {
			n -= feeds
			r.Discard(len(buf))
			continue
		}
		for ; n > 0; n-- {
			i := bytes.IndexByte(buf, '\n') + 1
			buf = buf[i:]
			r.Discard(i)
		}
	}
	return false, nil
}

// encodedLen is about what text takes as JSON.
func encodedLen(text []byte) int {
	n := len(text)
	if n*6 <= maxEncoded {
		return n // whatever is in it
	}
	for _, c := range text {
		switch {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}
