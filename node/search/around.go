package search

import (
	"bytes"

	"fairlead/node/textfile"
)

// contextLines returns the lines before and after the line from..to, which are offsets in the file.
func (s *scanner) contextLines(from, to int64) (before, after []string) {
	b := s.spareBuffer()
	if s.before > 0 && from > 0 {
		start := max(0, from-contextWindow)
		text := s.readAt(b[:from-start], start)
		if start > 0 { // the first line may have begun earlier
			_, text, _ = bytes.Cut(text, newline)
		}
		if len(text) > 0 {
			lines := bytes.Split(bytes.TrimSuffix(text, newline), newline)
			for _, l := range lines[max(0, len(lines)-s.before):] {
				before = append(before, displayText(l))
			}
		}
	}
	if s.after > 0 {
		text := s.readAt(b[:contextWindow], to)
		if len(text) == contextWindow {
			text = text[:len(text)-textfile.Incomplete(text)]
		}
		text, ok := bytes.CutPrefix(text, newline)
		if !ok || len(text) == 0 {
			return before, nil
		}
		for i, l := range bytes.SplitN(bytes.TrimSuffix(text, newline), newline, s.after+1) {
			if i < s.after {
				after = append(after, displayText(l))
			}
		}
	}
	return before, after
}

// readAt reads bytes at an offset.
func (s *scanner) readAt(b []byte, at int64) []byte {
	if s.hasEnd && at >= s.base { // small files are still in the buffer
		return b[:copy(b, s.buf[min(at-s.base, int64(s.n)):s.n])]
	}
	n := 0
	for n < len(b) {
		got, err := s.file.ReadAt(b[n:], at+int64(n))
		if n += got; err != nil || got == 0 {
			break
		}
	}
	return b[:n]
}
