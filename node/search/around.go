package search

import (
	"bytes"

	"fairlead/node/textfile"
)

// around returns the lines before and after the line from..to, which are offsets in the file.
func (s *scanner) around(from, to int64) (before, after []string) {
	b := s.spare()
	if s.before > 0 && from > 0 {
		start := max(0, from-window)
		text := s.piece(b[:from-start], start)
		if start > 0 { // the first line may have begun earlier
			_, text, _ = bytes.Cut(text, feed)
		}
		if len(text) > 0 {
			lines := bytes.Split(bytes.TrimSuffix(text, feed), feed)
			for _, l := range lines[max(0, len(lines)-s.before):] {
				before = append(before, shown(l))
			}
		}
	}
	if s.after > 0 {
		text := s.piece(b[:window], to)
		if len(text) == window {
			text = text[:len(text)-textfile.Incomplete(text)]
		}
		text, ok := bytes.CutPrefix(text, feed)
		if !ok || len(text) == 0 {
			return before, nil
		}
		for i, l := range bytes.SplitN(bytes.TrimSuffix(text, feed), feed, s.after+1) {
			if i < s.after {
				after = append(after, shown(l))
			}
		}
	}
	return before, after
}

// piece reads bytes at an offset.
func (s *scanner) piece(b []byte, at int64) []byte {
	if s.last && at >= s.base { // small files are still in the buffer
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
