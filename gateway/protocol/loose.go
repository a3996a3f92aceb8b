package protocol

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// looseID finds the ID of a frame that the decoder rejects, at any nesting depth: the string member
// "id" of the outermost object. It is empty when there is none, when it is not valid UTF-8, or when
// the text before it is not JSON.
func looseID(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return ""
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return ""
		}
		if name == "id" {
			before := dec.InputOffset()
			id, err := dec.Token()
			text, isText := id.(string)
			if err != nil || !isText || !utf8.Valid(data[before:dec.InputOffset()]) {
				return ""
			}
			return text
		}
		if skipValue(dec) != nil {
			return ""
		}
	}
	return ""
}

// skipValue reads one value, however deep it is nested.
func skipValue(dec *json.Decoder) error {
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
