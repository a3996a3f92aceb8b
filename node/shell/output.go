package shell

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of captured output in characters, as in GSV.
const (
	maxOutput = 200_000
	maxTail   = 4_000
	// tailBytes is enough for maxTail characters.
	tailBytes = maxTail*utf8.UTFMax + utf8.UTFMax
)

const (
	// retained is enough for maxOutput characters of the longest encoding and the rest of one that
	// was cut in two.
	retained = maxOutput*utf8.UTFMax + utf8.UTFMax
	// maxBuffer is the maximum size of the buffer; the older bytes are dropped rarely, because the
	// others move then.
	maxBuffer = retained + 128<<10
	// initialBuffer is enough for the output of most commands.
	initialBuffer = 8 << 10
)

// output retains the end of a command's output: at least the last maxOutput characters, in less
// than 1 MB however much is printed. It is safe for use by many goroutines.
type output struct {
	mu    sync.Mutex // guards the fields below
	buf   []byte
	total int64 // total number of bytes written
	lines int64 // total number of line feeds written
	// watcher gets what is written; nil if nobody watches.
	watcher Watcher
}

func (o *output) Write(p []byte) (int, error) {
	n, lines := len(p), bytes.Count(p, []byte{'\n'})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += int64(n)
	o.lines += int64(lines)
	if o.watcher != nil {
		o.watcher.Output(p)
	}
	p = p[max(0, n-retained):]
	size := len(o.buf) + len(p)
	if size > maxBuffer {
		o.buf = o.buf[:copy(o.buf, o.buf[size-retained:])]
		size = retained
	}
	if size > cap(o.buf) {
		o.buf = append(make([]byte, 0, min(max(size, 4*cap(o.buf), initialBuffer), maxBuffer)), o.buf...)
	}
	o.buf = append(o.buf, p...)
	return n, nil
}

// shrink releases memory after the last write; at most most bytes stay.
func (o *output) shrink(most int) {
	raw, _ := o.last(min(most, retained))
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = raw
}

func (o *output) bufferSize() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.buf)
}

func (o *output) size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// last copies up to the last n retained bytes; cut reports that there were more before them.
func (o *output) last(n int) (raw []byte, cut bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	raw = bytes.Clone(o.buf[max(0, len(o.buf)-n):])
	return raw, int64(len(raw)) < o.total
}

// since copies the retained output after the first n bytes, and returns the number of bytes written.
// Fewer than total-n bytes mean that those before them are lost.
func (o *output) since(n int64) (raw []byte, total int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.buf[max(0, int64(len(o.buf))-(o.total-n)):]), o.total
}

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
	v := snapshot{lines: o.lines, bytes: o.total}
	v.text, v.truncated = lastRunes(o.buf, maxOutput, int64(len(o.buf)) < o.total)
	o.mu.Unlock()
	v.first = v.lines - int64(strings.Count(v.text, "\n"))
	if v.text != "" && !strings.HasSuffix(v.text, "\n") {
		v.lines++
	}
	return v
}

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
	runes := []rune(string(raw))
	last := runes[max(0, len(runes)-n):]
	return string(last), cut || len(last) < len(runes)
}
