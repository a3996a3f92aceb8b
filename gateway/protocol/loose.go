package protocol

import (
	"encoding/json"
	"unicode/utf8"
)

// looseID finds the ID of a frame that the decoder rejects, at any nesting depth: the string member
// "id" of the outermost object. It is empty when there is none, or when the text before it is not
// JSON. It runs in linear time.
func looseID(data []byte) string {
	l := loose{data: data}
	if l.next() != '{' {
		return ""
	}
	for l.at++; ; l.at++ { // first past the brace, later past a comma
		key, ok, _ := l.text()
		if !ok || l.next() != ':' {
			return ""
		}
		l.at++
		if key == "id" {
			if id, ok, exact := l.text(); ok && exact {
				return id
			}
			return ""
		}
		if l.skip(); l.next() != ',' {
			return ""
		}
	}
}

// loose scans text that may be JSON.
type loose struct {
	data []byte
	at   int
}

// next skips white space and returns the next byte, 0 at the end.
func (l *loose) next() byte {
	for ; l.at < len(l.data); l.at++ {
		if c := l.data[l.at]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// text reads a string; exact reports that the bytes were valid UTF-8, so that s is what the sender
// wrote.
func (l *loose) text() (s string, ok, exact bool) {
	if l.next() != '"' {
		return "", false, false
	}
	from := l.at
	l.quoted()
	raw := l.data[from:l.at]
	err := json.Unmarshal(raw, &s)
	return s, err == nil, utf8.Valid(raw)
}

// quoted skips a string.
func (l *loose) quoted() {
	for l.at++; l.at < len(l.data); l.at++ {
		switch l.data[l.at] {
		case '\\':
			l.at++
		case '"':
			l.at++
			return
		}
	}
	l.at = len(l.data)
}

// skip skips a value, up to the next comma or the end of the enclosing object.
func (l *loose) skip() {
	for depth := 0; l.at < len(l.data); {
		switch c := l.data[l.at]; {
		case c == '"':
			l.quoted()
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return
			}
		case depth == 0 && (c == ',' || c == ':'):
			return
		}
		l.at++
	}
}
