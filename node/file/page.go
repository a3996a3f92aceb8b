package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"fairlead/node/textfile"
)

// maxEncoded is the maximum size of a page as JSON, in bytes: control characters become six bytes,
// and frames are limited.
const maxEncoded = 12 << 20

const readBuffer = 256 << 10

var lineFeed = []byte{'\n'}

var errNotText = errors.New("not UTF-8")

type page struct {
	content     string
	lines       int
	isTruncated bool // it ends early because the size limit was reached
	isAtEnd     bool // it ends at the end of the file
}

// lineRange is limit lines (all if negative) from offset on.
type lineRange struct{ offset, limit int64 }

// numberLines reads lines as "{n}\t{line}", joined by line feeds. Carriage returns stay. Skipped
// lines only cost the search for their ends; lines after the last are not read. A page that would
// exceed most bytes is cut between lines; a single line that is too long is cut between characters.
func numberLines(ctx context.Context, src io.Reader, lr lineRange, most int) (p page, err error) {
	r := bufio.NewReaderSize(src, readBuffer)
	if end, err := skipLines(ctx, r, lr.offset); end || err != nil {
		return page{isAtEnd: end}, err
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
		for more := true; more && !p.isTruncated; {
			var part []byte
			part, err = r.ReadSlice('\n')
			out = append(out, part...)
			more = errors.Is(err, bufio.ErrBufferFull)
			p.isTruncated = len(bytes.TrimSuffix(out[start:], lineFeed)) > most-start
		}
		switch {
		case p.isTruncated && p.lines > 0:
			out = out[:mark]
		case p.isTruncated:
			out = out[:most]
			out = out[:len(out)-textfile.Incomplete(out)]
			p.lines++
		case err != nil && !errors.Is(err, io.EOF):
			return page{}, err
		case err != nil && len(out) == start: // the end, directly after a line feed
			out, p.isAtEnd = out[:mark], true
		default:
			out = bytes.TrimSuffix(out, lineFeed)
			p.lines++
			p.isAtEnd = err != nil
		}
		if len(out) > start && !utf8.Valid(out[start:]) {
			return page{}, errNotText
		}
		if p.isTruncated || p.isAtEnd {
			break
		}
	}
	if encodedLen(out) > maxEncoded && most > maxEncoded/6 {
		return page{}, errTooManyControls
	}
	p.content = string(out)
	return p, nil
}

// errTooManyControls is the error for a page that is too large when it is encoded.
var errTooManyControls = errors.New("too many control characters")

// skipLines skips n lines; end reports that the text has ended.
func skipLines(ctx context.Context, r *bufio.Reader, n int64) (end bool, err error) {
	for tries := 0; n > 0; tries++ {
		if tries%64 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		switch _, err := r.ReadSlice('\n'); {
		case err == nil:
			n--
		case errors.Is(err, io.EOF):
			return true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
	return false, nil
}

// encodedLen estimates the size of text as JSON.
func encodedLen(text []byte) int {
	n := len(text)
	if n*6 <= maxEncoded {
		return n // even if every byte is escaped
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
