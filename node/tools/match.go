package tools

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// matcher finds the lines that match a pattern.
type matcher struct {
	line    *regexp.Regexp // for one line
	many    *regexp.Regexp // for many lines at once; nil where the pattern speaks of the text's ends
	literal []byte         // in every line that matches; may be empty
	exact   bool           // literal is the whole pattern
}

func newMatcher(pattern string) (*matcher, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, failf("Invalid regex pattern: %s%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "), hint(pattern))
	}
	m := &matcher{line: re}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return m, nil
	}
	tree = tree.Simplify()
	m.literal = []byte(required(tree))
	m.exact = tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 && !bytes.ContainsAny(m.literal, "\r\n")
	if !anchored(tree) {
		m.many = re
	}
	return m, nil
}

// hint says what to write instead of what RE2 has not.
func hint(pattern string) string {
	switch {
	case strings.Contains(pattern, "(?=") || strings.Contains(pattern, "(?!") || strings.Contains(pattern, "(?<=") || strings.Contains(pattern, "(?<!"):
		return ". Look-around is not supported (RE2 syntax). Search for the text itself and filter the matches, or use Bash with grep -P."
	case backReference.MatchString(pattern):
		return ". Back-references are not supported (RE2 syntax). Write the repeated part out, or use Bash with grep -P."
	}
	return " (RE2 syntax)"
}

var backReference = regexp.MustCompile(`\\[1-9]|\\k<`)

// required is the longest text that every match contains, as far as the top of the tree shows.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
		return best
	}
	return ""
}

// anchored reports whether the pattern knows where its text begins or ends.
func anchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		return true
	}
	for _, sub := range re.Sub {
		if anchored(sub) {
			return true
		}
	}
	return false
}

// next finds the first line of text[from:] that matches; text holds whole lines. start is -1 when there is none.
func (m *matcher) next(text []byte, from int) (start, end int) {
	for from < len(text) {
		at := from
		switch {
		case len(m.literal) > 0:
			i := bytes.Index(text[from:], m.literal)
			if i < 0 {
				return -1, -1
			}
			at += i
		case m.many != nil:
			loc := m.many.FindIndex(text[from:])
			if loc == nil {
				return -1, -1
			}
			at += loc[0]
		}
		if at >= len(text) { // an empty match behind the last line feed
			return -1, -1
		}
		start = bytes.LastIndexByte(text[:at], '\n') + 1
		start = max(start, from)
		end = len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if m.exact || m.line.Match(bytes.TrimSuffix(text[start:end], []byte("\r"))) {
			return start, end
		}
		from = end + 1
	}
	return -1, -1
}

const (
	chunk = 256 << 10
	// maxSearchLine is how much of a line without an end is searched.
	maxSearchLine = 4 << 20
)

// searcher searches one file after the other with the same buffer.
type searcher struct {
	*matcher
	buf []byte
}

// search returns the first matches in r, at most maxMatches, or none when r is not UTF-8 text: the original reads files as UTF-8 and skips the
// others. It reads in pieces: a file's size does not matter.
func (s *searcher) search(ctx context.Context, r io.Reader, path string) (found []grepMatch) {
	if s.buf == nil {
		s.buf = make([]byte, chunk)
	}
	buf, n, line := s.buf, 0, 1
	for first := true; ; first = false {
		read, err := io.ReadFull(r, buf[n:])
		n += read
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last || ctx.Err() != nil {
			return nil
		}
		end := n
		if !last {
			if end = bytes.LastIndexByte(buf[:n], '\n') + 1; end == 0 {
				if n < maxSearchLine {
					buf = append(buf, make([]byte, len(buf))...)
					continue
				}
				end = n - partial(buf[:n])
			}
		}
		text := buf[:end]
		whole := first && last // most files: whether one is text matters only when something is found in it
		if !whole && !utf8.Valid(text) {
			return nil
		}
		counted := 0
		for at := 0; len(found) < maxMatches; {
			from, to := s.next(text, at)
			if from < 0 {
				break
			}
			line += bytes.Count(text[counted:from], []byte("\n"))
			counted = from
			found = append(found, grepMatch{Path: path, Line: line, Content: firstRunes(bytes.TrimSuffix(text[from:to], []byte("\r")), maxLine)})
			at = to + 1
		}
		if whole && len(found) > 0 && !utf8.Valid(text) {
			return nil
		}
		if last {
			return found
		}
		line += bytes.Count(text[counted:], []byte("\n"))
		n = copy(buf, buf[end:n])
	}
}

// partial is how many bytes at the end of text are the beginning of a character.
func partial(text []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}

// firstRunes is the first n characters of text.
func firstRunes(text []byte, n int) string {
	end := 0
	for ; n > 0 && end < len(text); n-- {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return string(text[:end])
}
