package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"fairlead/node/search/dfa"
	"fairlead/node/textfile"
)

const (
	// chunk is the number of bytes of a file that are searched at once, and the most that are in
	// memory.
	chunk = 256 << 10
	// sample is the number of bytes of every chunk that are checked before it is searched: most
	// binary files reveal themselves there.
	sample = 1 << 10
	// maxEndless is the number of bytes that are searched of a file without a size, because the
	// kernel generates some without end.
	maxEndless = 64 << 20
	// window is the maximum distance in bytes between a line and its context, in a file of several
	// chunks.
	window = 32 << 10
)

// wanted says what to search for in a file.
type wanted struct {
	// matches is the maximum number of matches with their lines; the search of a file ends there
	// unless count is set.
	matches       int
	before, after int // lines of context
	count         bool
}

// found is the result of searching a file.
type found struct {
	matches []grepMatch
	count   int // of matching lines, in the searched part of the file
}

// scanner searches files one after the other with the same buffers. Only one goroutine may use it
// at a time.
type scanner struct {
	*finder
	wanted
	buf   []byte
	extra []byte

	file  source
	size  int64
	found found
	n     int   // bytes in the buffer
	last  bool  // the buffer contains the end of the file
	base  int64 // offset in the file of the buffer's first byte
	lines int   // number of line feeds before it; valid when trusted
	// trusted says that a match was found: everything before the buffer is UTF-8, and later bytes
	// are checked as they are read.
	trusted bool
}

// source is an open file. ReadAt may return fewer bytes than requested.
type source interface {
	Read([]byte) (int, error)
	ReadAt([]byte, int64) (int, error)
}

func newScanner(ctx context.Context, m *matcher, w wanted) *scanner {
	return &scanner{finder: newFinder(ctx, m), wanted: w, buf: make([]byte, chunk)}
}

// scan searches a file. The original system reads files as UTF-8 and skips all others; Fairlead
// reads only files with matches to their end to check that, with the same result. Neither the
// file's size nor the length of its lines is limited. A file that cannot be read to its end has no
// matches.
func (s *scanner) scan(file source, size int64) found {
	s.file, s.size, s.found = file, size, found{}
	s.n, s.last, s.base, s.lines, s.trusted = 0, false, 0, 0, false
	for {
		if !s.fill() || !s.trusted && !plausible(s.buf[:s.n]) {
			return found{}
		}
		end := s.n
		if !s.last {
			end = bytes.LastIndexByte(s.buf[:s.n], '\n') + 1
		}
		if end == 0 && !s.last {
			if !s.long() {
				return found{}
			}
			continue
		}
		if !s.search(s.buf[:end]) {
			return found{}
		}
		if s.last {
			return s.found
		}
		s.consume(end)
	}
}

// fill reads until the buffer is full or the file ends. It returns false when the search is over.
func (s *scanner) fill() bool {
	if s.size == 0 && s.base > maxEndless {
		return false
	}
	for s.n < len(s.buf) && !s.last {
		got, err := s.file.Read(s.buf[s.n:])
		s.n += got
		if err != nil && !errors.Is(err, io.EOF) {
			return false
		}
		// Another read at the end would cost as much as searching a small file.
		s.last = err != nil || s.size > 0 && s.base+int64(s.n) == s.size
	}
	return s.ctx.Err() == nil
}

// consume drops the first bytes of the buffer.
func (s *scanner) consume(bytesDone int) {
	if s.trusted {
		s.lines += bytes.Count(s.buf[:bytesDone], feed)
	}
	s.base += int64(bytesDone)
	s.n = copy(s.buf, s.buf[bytesDone:s.n])
}

var feed = []byte("\n")

func (s *scanner) enough() bool { return !s.count && len(s.found.matches) >= s.matches }

// search searches the whole lines at the beginning of the buffer. It returns false if the file must
// be skipped.
func (s *scanner) search(text []byte) bool {
	if s.trusted && !utf8.Valid(text) {
		return false
	}
	s.begin()
	for at, counted, feeds := 0, 0, 0; at < len(text) && !s.enough(); {
		from, to := s.next(text, at)
		if from < 0 {
			break
		}
		if !s.trusted && (!utf8.Valid(text) || !s.trust()) {
			return false
		}
		feeds += bytes.Count(text[counted:from], feed)
		counted = from
		s.add(s.lines+feeds+1, text[from:to], s.base+int64(from), s.base+int64(to))
		at = to + 1
	}
	return s.ctx.Err() == nil
}

// long searches a line that begins the buffer and is longer than the buffer.
func (s *scanner) long() bool {
	begin, head := s.base, bytes.Clone(s.buf[:min(s.n, utf8.UTFMax*maxLine)])
	m := s.dfa()
	state, hit, fed := m.Start(), false, false
	for ended := false; !ended; {
		if !s.fill() {
			return false
		}
		cut := bytes.IndexByte(s.buf[:s.n], '\n') + 1
		fed = cut > 0
		if ended = fed || s.last; !fed {
			if cut = s.n; !s.last {
				cut -= textfile.Incomplete(s.buf[:s.n])
			}
		}
		text := s.buf[:cut]
		if s.trusted && !utf8.Valid(text) {
			return false
		}
		if !hit {
			var at int
			text, state = s.void(m, text, state)
			at, state = m.Find(s.ctx, state, text)
			hit = at >= 0 || ended && !fed && m.End(state)
		}
		s.consume(cut)
	}
	if !hit || s.enough() {
		return true
	}
	if !s.trusted && !s.trust() {
		return false
	}
	if fed {
		s.add(s.lines, head, begin, s.base-1)
	} else {
		s.add(s.lines+1, head, begin, s.base)
	}
	return true
}

var noughts [4 << 10]byte

// void skips the zeros at the beginning of a piece of a long line once they do not change the state
// any more: disk images have large holes, and searching them byte by byte takes seconds.
func (s *scanner) void(m *dfa.Machine, text []byte, state dfa.State) ([]byte, dfa.State) {
	if !bytes.HasPrefix(text, noughts[:]) {
		return text, state
	}
	for range 2 { // one more than the number of bytes that the zeros may leave over
		at, next := m.Find(s.ctx, state, noughts[:1])
		if at >= 0 {
			return text, state
		}
		if next == state {
			for bytes.HasPrefix(text, noughts[:]) {
				text = text[len(noughts):]
			}
			return text, state
		}
		text, state = text[1:], next
	}
	return text, state
}

func (s *scanner) add(number int, text []byte, from, to int64) {
	if s.found.count++; len(s.found.matches) >= s.matches {
		return
	}
	m := grepMatch{Line: number, Content: shown(text)}
	if s.before > 0 || s.after > 0 {
		m.Before, m.After = s.around(from, to)
	}
	s.found.matches = append(s.found.matches, m)
}

// trust reads the file again up to the buffer, to check that it is UTF-8 and to count its lines.
func (s *scanner) trust() bool {
	s.lines = 0
	for at, n, b := int64(0), 0, s.spare(); at < s.base; {
		got, err := s.file.ReadAt(b[n:min(int64(len(b)), s.base-at)], at+int64(n))
		if err != nil && !errors.Is(err, io.EOF) || got == 0 || s.ctx.Err() != nil {
			return false
		}
		n += got
		cut := n
		if at+int64(n) < s.base {
			cut -= textfile.Incomplete(b[:n])
		}
		if !utf8.Valid(b[:cut]) {
			return false
		}
		s.lines += bytes.Count(b[:cut], feed)
		at += int64(cut)
		n = copy(b, b[cut:n])
	}
	s.trusted = true
	return true
}

// spare returns memory for a second reading of a file.
func (s *scanner) spare() []byte {
	if s.extra == nil {
		s.extra = make([]byte, 2*window)
	}
	return s.extra
}

// plausible reports whether text, which may end inside a character, begins as UTF-8.
func plausible(text []byte) bool {
	text = text[:min(len(text), sample)]
	return utf8.Valid(text) || utf8.Valid(text[:len(text)-textfile.Incomplete(text)])
}

// shown returns the first characters of a line as they are shown, without the carriage return at
// its end.
func shown(text []byte) string {
	text = bytes.TrimSuffix(text, []byte("\r"))
	end := 0
	for n := 0; n < maxLine && end < len(text); n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return string(text[:end])
}
