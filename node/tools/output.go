package tools

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

// output keeps the end of what a command prints: at least the last maxOutput characters, in less than 1 MB whatever is printed. One
// goroutine writes, by Write or by space and took; any may read.
type output struct {
	mu    sync.Mutex // guards what follows
	buf   []byte     // grows up to ring bytes, then is one
	end   int        // where the next byte goes
	total int64      // bytes ever written
	lines int64      // line feeds ever written
}

const (
	// keep is enough for maxOutput characters of the longest kind and the rest of one that the ring cut in two.
	keep = maxOutput*utf8.UTFMax + utf8.UTFMax
	// maxRead is the most that is read at once. The ring has room for one beside what is kept, so that nobody has to be kept from reading
	// while the next bytes come in.
	maxRead = 128 << 10
	ring    = keep + maxRead
	// firstBuf is enough for what most commands print.
	firstBuf = 8 << 10
)

// space is where the next bytes may be written; took says how many were. It is never empty.
func (o *output) space() []byte {
	if o.end == len(o.buf) {
		if len(o.buf) < ring {
			o.grow()
		} else {
			o.end = 0
		}
	}
	return o.buf[o.end:min(o.end+maxRead, len(o.buf))]
}

func (o *output) grow() {
	bigger := make([]byte, min(max(4*len(o.buf), firstBuf), ring))
	o.mu.Lock()
	defer o.mu.Unlock()
	copy(bigger, o.buf)
	o.buf = bigger
}

// took takes note of n bytes that were written to space.
func (o *output) took(n int) {
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
		c := copy(o.space(), p)
		o.took(c)
		p = p[c:]
	}
	return n, nil
}

// settle gives back the memory that is not needed any more when nothing will be written; most is how many bytes may stay.
func (o *output) settle(most int) {
	raw, _ := o.last(min(most, keep))
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf, o.end = raw, len(raw)
}

// held is the number of bytes of memory.
func (o *output) held() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.buf)
}

// size is the number of bytes ever written.
func (o *output) size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// last copies the last n bytes that are kept, or fewer; cut says that there was more before them.
func (o *output) last(n int) (raw []byte, cut bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lastLocked(n)
}

func (o *output) lastLocked(n int) (raw []byte, cut bool) {
	n = int(min(int64(n), o.total, keep, int64(len(o.buf))))
	raw = make([]byte, 0, n)
	if n > o.end {
		raw = append(raw, o.buf[len(o.buf)-(n-o.end):]...)
		raw = append(raw, o.buf[:o.end]...)
	} else {
		raw = append(raw, o.buf[o.end-n:o.end]...)
	}
	return raw, int64(n) < o.total
}

// view is the output at one moment.
type view struct {
	text      string // the last maxOutput characters
	truncated bool   // there were more
	// lines is the number of all lines ever, first that of the first one in text, of which the start may be lost, from 0.
	lines, first int64
	bytes        int64 // ever written
}

func (o *output) view() view {
	o.mu.Lock()
	raw, cut := o.lastLocked(keep)
	v := view{lines: o.lines, bytes: o.total}
	o.mu.Unlock()
	v.text, v.truncated = lastRunes(raw, maxOutput, cut)
	v.first = v.lines - int64(strings.Count(v.text, "\n"))
	if v.text != "" && !strings.HasSuffix(v.text, "\n") {
		v.lines++
	}
	return v
}

// text is the last maxOutput characters; truncated says that there were more.
func (o *output) text() (s string, truncated bool) {
	raw, cut := o.last(keep)
	return lastRunes(raw, maxOutput, cut)
}

// tail is the last maxTail characters.
func (o *output) tail() string {
	raw, cut := o.last(tailBytes)
	s, _ := lastRunes(raw, maxTail, cut)
	return s
}

// lastRunes decodes raw and gives its last n characters, each invalid byte being one U+FFFD. cut says that raw may begin inside a character, whose rest is dropped.
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
