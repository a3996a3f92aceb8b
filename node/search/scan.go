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
	// chunkSize is the number of bytes of a file that are searched at once, and the most that are
	// in memory.
	chunkSize = 256 << 10
	// maxGenerated is the number of bytes that are searched of a file without a size, because the
	// kernel generates some without end.
	maxGenerated = 64 << 20
	// contextWindow is the maximum distance in bytes between a line and its context, in a file of
	// several chunks.
	contextWindow = 32 << 10
)

type lineOptions struct {
	// matches is the maximum number of matches with their lines; the search of a file ends there
	// unless count is set.
	matches       int
	before, after int // lines of context
	count         bool
}

type fileMatches struct {
	matches []grepMatch
	count   int // of matching lines, in the searched part of the file
	// isSkipped says that the file is not text, or could not be read to its end.
	isSkipped bool
}

// scanner searches files one after the other. Only one goroutine may use it at a time.
type scanner struct {
	*matcher
	lineOptions
	ctx     context.Context
	pre     prefilter
	machine *dfa.Machine // made on first use
	buf     []byte
	extra   []byte // for the context of a match

	file   source
	size   int64
	found  fileMatches
	n      int   // bytes in the buffer
	hasEnd bool  // the buffer contains the end of the file
	base   int64 // offset in the file of the buffer's first byte
	lines  int   // number of line feeds before it
}

type source interface {
	io.Reader
	io.ReaderAt
}

func newScanner(ctx context.Context, m *matcher, w lineOptions) *scanner {
	return &scanner{matcher: m, lineOptions: w, ctx: ctx, pre: prefilter{needles: m.needles}, buf: make([]byte, chunkSize)}
}

func (s *scanner) automaton() *dfa.Machine {
	if s.machine == nil {
		s.machine = s.program.NewMachine()
	}
	return s.machine
}

// scan searches a file. Files that are neither UTF-8 nor UTF-16 are skipped, as Read refuses them.
// Neither the file's size
// nor the length of its lines is limited. A file that cannot be read to its end has no matches.
func (s *scanner) scan(file source, size int64) fileMatches {
	s.begin(file, size)
	if !s.fill() {
		return fileMatches{isSkipped: true}
	}
	if text, ok := s.wideText(); ok {
		s.begin(bytes.NewReader(text), int64(len(text)))
	}
	for {
		if !s.fill() {
			return fileMatches{isSkipped: true}
		}
		end := s.n
		if !s.hasEnd {
			end = bytes.LastIndexByte(s.buf[:s.n], '\n') + 1
		}
		if end == 0 && !s.hasEnd {
			if !s.searchLongLine() {
				return fileMatches{isSkipped: true}
			}
			continue
		}
		if !s.search(s.buf[:end]) {
			return fileMatches{isSkipped: true}
		}
		if s.hasEnd {
			return s.found
		}
		s.consume(end)
	}
}

func (s *scanner) begin(file source, size int64) {
	s.file, s.size, s.found = file, size, fileMatches{}
	s.n, s.hasEnd, s.base, s.lines = 0, false, 0, 0
}

// wideText returns the text of a UTF-16 file, whose beginning is in the buffer.
func (s *scanner) wideText() (text []byte, ok bool) {
	w := textfile.DetectUTF16(s.buf[:s.n])
	if w == nil || s.size > textfile.MaxWide {
		return nil, false
	}
	raw, err := io.ReadAll(io.NewSectionReader(s.file, 0, textfile.MaxWide+1))
	if err != nil || len(raw) > textfile.MaxWide {
		return nil, false
	}
	return w.Decode(raw)
}

// fill reads until the buffer is full or the file ends. It returns false when the search is over.
func (s *scanner) fill() bool {
	if s.size == 0 && s.base > maxGenerated {
		return false
	}
	for s.n < len(s.buf) && !s.hasEnd {
		got, err := s.file.Read(s.buf[s.n:])
		s.n += got
		if err != nil && !errors.Is(err, io.EOF) {
			return false
		}
		// Another read at the end would cost as much as searching a small file.
		s.hasEnd = err != nil || s.size > 0 && s.base+int64(s.n) == s.size
	}
	return s.ctx.Err() == nil
}

// consume drops the first bytes of the buffer.
func (s *scanner) consume(bytesDone int) {
	s.lines += bytes.Count(s.buf[:bytesDone], newline)
	s.base += int64(bytesDone)
	s.n = copy(s.buf, s.buf[bytesDone:s.n])
}

var newline = []byte("\n")

func (s *scanner) isComplete() bool { return !s.count && len(s.found.matches) >= s.matches }

// search searches whole lines. It returns false if the file must be skipped.
func (s *scanner) search(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	s.pre.reset()
	for at, counted, feeds := 0, 0, 0; at < len(text) && !s.isComplete(); {
		from, to := s.findLine(text, at)
		if from < 0 {
			break
		}
		feeds += bytes.Count(text[counted:from], newline)
		counted = from
		s.add(s.lines+feeds+1, text[from:to], s.base+int64(from), s.base+int64(to))
		at = to + 1
	}
	return s.ctx.Err() == nil
}

// searchLongLine searches a line that begins the buffer and is longer than the buffer.
func (s *scanner) searchLongLine() bool {
	begin, head := s.base, bytes.Clone(s.buf[:min(s.n, utf8.UTFMax*maxLine)])
	m := s.automaton()
	state, hit, hasFeed := m.Start(), false, false
	for ended := false; !ended; {
		if !s.fill() {
			return false
		}
		cut := bytes.IndexByte(s.buf[:s.n], '\n') + 1
		hasFeed = cut > 0
		ended = hasFeed || s.hasEnd
		if !hasFeed {
			cut = s.n
			if !s.hasEnd {
				cut -= textfile.Incomplete(s.buf[:s.n])
			}
		}
		text := s.buf[:cut]
		if !utf8.Valid(text) {
			return false
		}
		if !hit {
			var at int
			text, state = s.skipZeros(m, text, state)
			at, state = m.Find(s.ctx, state, text)
			hit = at >= 0 || ended && !hasFeed && m.End(state)
		}
		s.consume(cut)
	}
	if !hit || s.isComplete() {
		return true
	}
	if hasFeed {
		s.add(s.lines, head, begin, s.base-1)
	} else {
		s.add(s.lines+1, head, begin, s.base)
	}
	return true
}

var zeros [4 << 10]byte

// skipZeros skips the zeros at the beginning of a piece of a long line once they do not change the
// state any more: disk images have large holes, and searching them byte by byte takes seconds.
func (s *scanner) skipZeros(m *dfa.Machine, text []byte, state dfa.State) ([]byte, dfa.State) {
	if !bytes.HasPrefix(text, zeros[:]) {
		return text, state
	}
	for range 2 { // one more than the number of bytes that the zeros may leave over
		at, next := m.Find(s.ctx, state, zeros[:1])
		if at >= 0 {
			return text, state
		}
		if next == state {
			for bytes.HasPrefix(text, zeros[:]) {
				text = text[len(zeros):]
			}
			return text, state
		}
		text, state = text[1:], next
	}
	return text, state
}

func (s *scanner) add(number int, text []byte, from, to int64) {
	s.found.count++
	if len(s.found.matches) >= s.matches {
		return
	}
	m := grepMatch{Line: number, Content: displayText(text)}
	if s.before > 0 || s.after > 0 {
		m.Before, m.After = s.contextLines(from, to)
	}
	s.found.matches = append(s.found.matches, m)
}

// displayText returns the first characters of a line without its carriage return.
func displayText(text []byte) string {
	text = bytes.TrimSuffix(text, []byte("\r"))
	end := 0
	for n := 0; n < maxLine && end < len(text); n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return string(text[:end])
}
