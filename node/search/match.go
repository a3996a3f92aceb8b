package search

import (
	"bytes"
	"regexp/syntax"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/search/dfa"
	"fairlead/node/search/pattern"
	"fairlead/node/textfile"
)

// matcher is a compiled pattern for lines. It is shared by all searches for it.
type matcher struct {
	program *dfa.Program
	needles []needle // every matching line contains one of them; may be empty
	isExact bool     // every line with a needle matches
}

func newMatcher(expression string) (*matcher, error) {
	tree, err := pattern.Parse(expression)
	if err != nil {
		return nil, toolkit.Failf("Invalid regex pattern: %w", err)
	}
	m := &matcher{}
	if m.program, err = dfa.Compile(tree, pattern.WordRunes()); err != nil {
		return nil, toolkit.Failf("Invalid regex pattern: %w. Repeat less, or search for a part of it.", err)
	}
	tree = tree.Simplify()
	m.needles = requiredNeedles(tree)
	m.isExact = tree.Op == syntax.OpLiteral && len(m.needles) == 1 && !bytes.ContainsAny(m.needles[0].text, "\r\n") &&
		(tree.Flags&syntax.FoldCase == 0 || len(m.needles[0].text) == len(tree.Rune))
	return m, nil
}

// minCandidateGap is the average number of bytes between two candidates of the prefilter below
// which the prefilter is not worthwhile.
const minCandidateGap = 32

// findLine finds the first matching line of text[from:]; text consists of whole lines and from is
// the beginning of one. start is -1 when it does not have any. The line is text[start:end], with
// its carriage return and without its line feed.
func (s *scanner) findLine(text []byte, from int) (start, end int) {
	if len(s.needles) == 0 {
		return s.findByAutomaton(text, from)
	}
	for tries, begin := 0, from; from < len(text); tries++ {
		if tries >= 64 && from-begin < tries*minCandidateGap {
			return s.findByAutomaton(text, from)
		}
		at := s.pre.index(text, from)
		if at < 0 {
			return -1, -1
		}
		start, end = lineAt(text, from, at)
		if s.isExact || s.matchesLine(text[start:end]) {
			return start, end
		}
		from = end + 1
	}
	return -1, -1
}

func (s *scanner) findByAutomaton(text []byte, from int) (start, end int) {
	m := s.automaton()
	at, state := m.Find(s.ctx, m.Start(), text[from:])
	switch {
	case at >= 0:
		return lineAt(text, from, from+at)
	case s.ctx.Err() == nil && from < len(text) && text[len(text)-1] != '\n' && m.End(state):
		return lineAt(text, from, len(text)-1)
	}
	return -1, -1
}

func (s *scanner) matchesLine(text []byte) bool {
	m := s.automaton()
	at, state := m.Find(s.ctx, m.Start(), text)
	return at >= 0 || m.End(state)
}

// lineAt returns the line of text[from:] that contains at, which may be its line feed.
func lineAt(text []byte, from, at int) (start, end int) {
	start = max(bytes.LastIndexByte(text[:at], '\n')+1, from)
	if end = bytes.IndexByte(text[at:], '\n'); end < 0 {
		return start, len(text)
	}
	return start, at + end
}

// contextLines returns the lines before and after the line from..to, which are offsets in the file.
func (s *scanner) contextLines(from, to int64) (before, after []string) {
	if s.extra == nil {
		s.extra = make([]byte, contextWindow)
	}
	b := s.extra
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

func (s *scanner) readAt(b []byte, at int64) []byte {
	if s.hasEnd && at >= s.base { // small files are still in the buffer
		return b[:copy(b, s.buf[min(at-s.base, int64(s.n)):s.n])]
	}
	n, _ := s.file.ReadAt(b, at) // fewer bytes at the end of the file
	return b[:n]
}
