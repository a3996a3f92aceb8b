package shell

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of captured output in characters, as in the original system.
const (
	maxOutput = 200_000
	maxTail   = 4_000
	// tailBytes is enough for maxTail characters.
	tailBytes = maxTail*utf8.UTFMax + utf8.UTFMax
)

// output retains the end of a command's output: at least the last maxOutput characters, in less
// than 1 MB however much is printed. One goroutine writes, by Write or by space and took; any may
// read.
type output struct {
	mu    sync.Mutex // guards the fields below
	buf   []byte     // grows up to ring bytes, then is a ring buffer
	end   int        // position of the next byte
	total int64      // total number of bytes written
	lines int64      // total number of line feeds written
}

const (
	// retained is enough for maxOutput characters of the longest encoding and the rest of one that
	// the ring cut in two.
	retained = maxOutput*utf8.UTFMax + utf8.UTFMax
	// maxRead is the maximum number of bytes of one read. The ring has room for them beside the
	// retained bytes, so that readers are not blocked while the next bytes arrive.
	maxRead  = 128 << 10
	ringSize = retained + maxRead
	// initialBuffer is enough for the output of most commands.
	initialBuffer = 8 << 10
)

// buffer returns the buffer for the next bytes; took says how many were written. It is never empty.
func (o *output) buffer() []byte {
	if o.end == len(o.buf) {
		if len(o.buf) < ringSize {
			o.grow()
		} else {
			o.end = 0
		}
	}
	return o.buf[o.end:min(o.end+maxRead, len(o.buf))]
}

func (o *output) grow() {
	bigger := make([]byte, min(max(4*len(o.buf), initialBuffer), ringSize))
	o.mu.Lock()
	defer o.mu.Unlock()
	copy(bigger, o.buf)
	o.buf = bigger
}

// advance records that n bytes were written to space.
func (o *output) advance(n int) {
	lines := bytes.Count(o.buf[o.end:o.end+n], []byte{'\n'})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end += n
	o.total += int64(n)
	o.lines += int64(lines)
}

func (o *output) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		c := copy(o.buffer(), p)
		o.advance(c)
		p = p[c:]
	}
	return n, nil
}

// shrink releases memory after the last write; at most most bytes stay.
func (o *output) shrink(most int) {
	raw, _ := o.last(min(most, retained))
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf, o.end = raw, len(raw)
}

// bufferSize returns the size of the buffer in bytes.
func (o *output) bufferSize() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.buf)
}

// size returns the total number of bytes written.
func (o *output) size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// last copies up to the last n retained bytes; cut reports that there were more before them.
func (o *output) last(n int) (raw []byte, cut bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lastLocked(n)
}

func (o *output) lastLocked(n int) (raw []byte, cut bool) {
	n = int(min(int64(n), o.total, retained, int64(len(o.buf))))
	raw = make([]byte, 0, n)
	if n > o.end {
		raw = append(raw, o.buf[len(o.buf)-(n-o.end):]...)
		raw = append(raw, o.buf[:o.end]...)
	} else {
		raw = append(raw, o.buf[o.end-n:o.end]...)
	}
	return raw, int64(n) < o.total
}

// snapshot is a snapshot of the output.
type snapshot struct {
	text      string // the last maxOutput characters
	truncated bool   // there were more
	// lines is the total number of lines; first is the number of the first line in text, from 0.
	// The start of that line may be missing.
	lines, first int64
	bytes        int64 // total number of bytes written
}

func (o *output) snapshot() snapshot {
	o.mu.Lock()
	raw, cut := o.lastLocked(retained)
	v := snapshot{lines: o.lines, bytes: o.total}
	o.mu.Unlock()
	v.text, v.truncated = lastRunes(raw, maxOutput, cut)
	v.first = v.lines - int64(strings.Count(v.text, "\n"))
	if v.text != "" && !strings.HasSuffix(v.text, "\n") {
		v.lines++
	}
	return v
}

// text returns the last maxOutput characters; truncated reports that there were more.
func (o *output) text() (s string, truncated bool) {
	raw, cut := o.last(retained)
	return lastRunes(raw, maxOutput, cut)
}

// tail returns the last maxTail characters.
func (o *output) tail() string {
	raw, cut := o.last(tailBytes)
	s, _ := lastRunes(raw, maxTail, cut)
	return s
}

// lastRunes decodes raw and returns its last n characters, with U+FFFD for each invalid byte. cut
// says that raw may begin inside a character, whose rest is dropped.
func lastRunes(raw []byte, n int, cut bool) (s string, truncated bool) {
	if cut {
		for i := 0; i < utf8.UTFMax-1 && len(raw) > 0 && !utf8.RuneStart(raw[0]); i++ {
			raw = raw[1:]
		}
	}
	count := 0
	from := len(raw)
	for from > 0 && count < n {
		_, size := utf8.DecodeLastRune(raw[:from])
		from -= size
		count++
	}
	truncated = cut || from > 0
	raw = raw[from:]
	if utf8.Valid(raw) {
		return string(raw), truncated
	}
	var b strings.Builder
	b.Grow(len(raw) + len(raw)/8)
	for len(raw) > 0 {
		if end := bytes.IndexFunc(raw, func(r rune) bool { return r == utf8.RuneError }); end != 0 {
			if end < 0 {
				end = len(raw)
			}
			b.Write(raw[:end])
			raw = raw[end:]
			continue
		}
		r, size := utf8.DecodeRune(raw)
		b.WriteRune(r)
		raw = raw[size:]
	}
	return b.String(), truncated
}
