package protocol

import "encoding/json"

// maxPlain is how deep what [isCanonical] looks at may be.
const maxPlain = 16

// isCanonical reports whether raw is an object that [Canonical] leaves as it is; false for what it cannot tell in one pass.
func isCanonical(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return false
	}
	s := scanner{data: raw}
	return s.canonical(maxPlain) && s.at == len(raw)
}

// canonical walks over one value. Names are in order, each once, and every string is of plain ASCII, so that it has one spelling.
func (s *scanner) canonical(depth int) bool {
	if depth == 0 {
		return false
	}
	switch s.data[s.at] {
	case '"':
		_, ok := s.ascii()
		return ok
	case '{':
		return s.members(depth, true)
	case '[':
		return s.members(depth, false)
	}
	from := s.at
	for ; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case ',', ']', '}':
			return s.at > from
		case ' ', '\t', '\n', '\r':
			return false
		}
	}
	return s.at > from
}

// members walks over an object or a list.
func (s *scanner) members(depth int, named bool) bool {
	s.at++
	last := ""
	for n := 0; ; n++ {
		switch c := s.data[s.at]; {
		case c == '}' || c == ']':
			s.at++
			return true
		case c == ',':
			s.at++
		}
		if named {
			if s.data[s.at] != '"' {
				return false // white space
			}
			name, ok := s.ascii()
			if !ok || n > 0 && name <= last || s.data[s.at] != ':' {
				return false
			}
			last = name
			s.at++
		}
		if !s.canonical(depth - 1) {
			return false
		}
	}
}

// ascii walks over a string.
func (s *scanner) ascii() (string, bool) {
	from := s.at + 1
	for s.at = from; ; s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return string(s.data[from : s.at-1]), true
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		}
	}
}
