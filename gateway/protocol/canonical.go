package protocol

import "encoding/json"

// maxPlain is the maximum nesting depth that [isCanonical] handles.
const maxPlain = 16

// isCanonical reports whether raw is an object that [Canonical] would return unchanged. It reports
// false when it cannot decide in one pass.
func isCanonical(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return false
	}
	s := scanner{data: raw}
	return s.canonical(maxPlain) && s.at == len(raw)
}

// canonical scans one value. Names must be sorted and unique, and strings must be plain ASCII,
// which has only one encoding.
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

// members scans an object or a list.
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

// ascii scans a string.
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
