package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// NamedArguments returns the arguments of a call in their order; nil if they are no object.
func NamedArguments(args json.RawMessage) []QuestionArgument {
	var list []QuestionArgument
	in := json.NewDecoder(bytes.NewReader(args))
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	for in.More() {
		name, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			return list
		}
		list = append(list, QuestionArgument{Name: fmt.Sprint(name), Value: argumentValue(value)})
	}
	return list
}

// argumentValue returns a text without quotes, and other values as JSON without HTML escapes.
func argumentValue(value json.RawMessage) string {
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	plain, err := Canonical(value)
	if err != nil {
		return string(value)
	}
	return string(plain)
}
