package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Arguments are read by several programs in turn, each with its own idea of JSON: the gateway's rules, the person's window, the machine. What they could
// read differently is refused, so that what was allowed is what is done: a name that is there twice, and one that differs from the name of an argument
// in the case of letters only.

// settle takes nulls for optional arguments out of v, which is what schema describes, and refuses names that are nearly those of arguments.
func settle(schema *jsonschema.Schema, v any) error {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			p, declared := schema.Properties[name]
			if declared && p == nil {
				continue // a schema of somebody else's that says nothing about it
			}
			if !declared {
				for known := range schema.Properties {
					if strings.EqualFold(known, name) {
						return fmt.Errorf("there is no argument %q; it is called %q", name, known)
					}
				}
				continue
			}
			switch {
			case value != nil:
				if err := settle(p, value); err != nil {
					return err
				}
			case !slices.Contains(schema.Required, name):
				delete(v, name)
			case p.Type != "" && p.Type != "null":
				return fmt.Errorf("%q must be given; it is null", name)
			}
		}
	case []any:
		if schema.Items == nil {
			return nil
		}
		for _, value := range v {
			if err := settle(schema.Items, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// unclear refuses arguments of which nothing else is known.
func unclear(args []byte) error {
	var top map[string]json.RawMessage
	if json.Unmarshal(args, &top) != nil {
		return nil
	}
	if err := once(args); err != nil {
		return &InputError{err}
	}
	folded := make(map[string]string, len(top))
	for name := range top {
		key := strings.ToLower(strings.ToUpper(name))
		if other, ok := folded[key]; ok {
			return &InputError{fmt.Errorf("the arguments %q and %q differ in the case of letters only", min(name, other), max(name, other))}
		}
		folded[key] = name
	}
	return nil
}

// once refuses an object in text, which is valid JSON, in which a name is there twice.
func once(text []byte) error {
	s := names{text: text}
	s.value()
	if s.twice != "" {
		return fmt.Errorf("%q is there twice", s.twice)
	}
	return nil
}

// names walks through valid JSON for the names in it.
type names struct {
	text  []byte
	at    int
	twice string // a name that is in one object twice
}

func (s *names) value() {
	switch s.peek() {
	case '{':
		seen := make(map[string]bool)
		s.list('}', func() {
			name := s.name()
			if seen[name] {
				s.twice = name
			}
			seen[name] = true
			s.peek()
			s.at++ // the colon
			s.value()
		})
	case '[':
		s.list(']', s.value)
	case '"':
		s.str()
	default:
		for s.at < len(s.text) && bytes.IndexByte([]byte(",]} \t\r\n"), s.text[s.at]) < 0 {
			s.at++
		}
	}
}

// list walks through what stands between brackets.
func (s *names) list(end byte, element func()) {
	for s.at++; s.at < len(s.text); {
		switch s.peek() {
		case end:
			s.at++
			return
		case ',':
			s.at++
		default:
			element()
		}
	}
}

// peek is the next character that is no white space; 0 at the end.
func (s *names) peek() byte {
	for s.at < len(s.text) && bytes.IndexByte([]byte(" \t\r\n"), s.text[s.at]) >= 0 {
		s.at++
	}
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *names) name() string {
	s.peek()
	raw := s.str()
	if bytes.IndexByte(raw, '\\') < 0 && len(raw) > 1 {
		return string(raw[1 : len(raw)-1])
	}
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return string(raw)
	}
	return name
}

// str is the string that begins here, with its quotes.
func (s *names) str() []byte {
	from := s.at
	for s.at++; s.at < len(s.text); {
		i := bytes.IndexByte(s.text[s.at:], '"')
		if i < 0 {
			s.at = len(s.text)
			break
		}
		end := s.at + i
		s.at = end + 1
		escapes := 0
		for end-escapes-1 > from && s.text[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			break
		}
	}
	return s.text[from:s.at]
}
