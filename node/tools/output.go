package tools

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of captured output (seed 000, Output Constraints), in characters.
const (
	maxOutput = 200_000
	maxTail   = 4_000
)

// output keeps the end of what a command prints: at least the last maxOutput characters, in at most about 800 kB whatever is printed.
type output struct {
	mu    sync.Mutex // guards what follows
	buf   []byte     // grows up to keep bytes, then is a ring
	start int        // of the ring
	total int64      // bytes ever written
}

// keep is enough for maxOutput characters of the longest kind and the rest of one that the ring cut in two.
const keep = maxOutput*utf8.UTFMax + utf8.UTFMax

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	o.total += int64(n)
	if len(p) > keep {
		p = p[len(p)-keep:]
	}
	if room := keep - len(o.buf); room > 0 {
		first := min(room, len(p))
		o.buf = append(o.buf, p[:first]...)
		p = p[first:]
	}
	for len(p) > 0 {
		c := copy(o.buf[o.start:], p)
		o.start = (o.start + c) % keep
		p = p[c:]
	}
	return n, nil
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
	n = min(n, len(o.buf))
	raw = make([]byte, 0, n)
	if older := o.buf[o.start:]; n > o.start {
		raw = append(raw, older[len(older)-(n-o.start):]...)
		raw = append(raw, o.buf[:o.start]...)
	} else {
		raw = append(raw, o.buf[o.start-n:o.start]...)
	}
	return raw, int64(n) < o.total
}

// text is the last maxOutput characters; truncated says that there were more.
func (o *output) text() (s string, truncated bool) {
	raw, cut := o.last(keep)
	return lastRunes(raw, maxOutput, cut)
}

// tail is the last maxTail characters.
func (o *output) tail() string {
	raw, cut := o.last(maxTail*utf8.UTFMax + utf8.UTFMax)
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
