package openai

import "strings"

// splitter separates a thought from the text for servers that do not: an answer that begins with
// <think>. It delays text only while that may be the beginning of a tag.
type splitter struct {
	state int
	held  string
}

const (
	splitStart = iota // only white space so far
	splitThought
	splitText
)

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// add takes the next piece and returns its thought and its text.
func (s *splitter) add(piece string) (thought, text string) {
	if s.state == splitText {
		return "", piece
	}
	s.held += piece
	if s.state == splitStart {
		trimmed := strings.TrimLeft(s.held, " \r\n\t")
		switch {
		case strings.HasPrefix(trimmed, thinkOpen):
			s.state = splitThought
			s.held = strings.TrimLeft(trimmed[len(thinkOpen):], "\r\n")
		case strings.HasPrefix(thinkOpen, trimmed):
			return "", ""
		default:
			s.state = splitText
			return "", s.take(len(s.held))
		}
	}
	if i := strings.Index(s.held, thinkClose); i >= 0 {
		thought = s.held[:i]
		text = strings.TrimLeft(s.held[i+len(thinkClose):], "\r\n")
		// Line breaks at the start of the next piece remain: they are invisible at the beginning of
		// a paragraph.
		s.state, s.held = splitText, ""
		return thought, text
	}
	keep := 0
	for n := min(len(thinkClose)-1, len(s.held)); n > 0; n-- {
		if strings.HasPrefix(thinkClose, s.held[len(s.held)-n:]) {
			keep = n
			break
		}
	}
	return s.take(len(s.held) - keep), ""
}

// end returns the delayed text.
func (s *splitter) end() (thought, text string) {
	rest := s.take(len(s.held))
	if s.state == splitThought {
		return rest, ""
	}
	return "", rest
}

func (s *splitter) take(n int) string {
	out := s.held[:n]
	s.held = s.held[n:]
	return out
}
