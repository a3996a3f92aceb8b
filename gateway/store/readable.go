package store

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"fairlead/gateway/protocol"
)

// readable is the text of a message for who looks for words: of a tool's result, which is JSON, the texts within, each on a line of its own. As they
// stand there, the first word of each line would be another one, because of the n of the line's end before it.
func readable(m protocol.Message, plain string) string {
	if m.Role != protocol.RoleToolResult || !strings.HasPrefix(plain, "{") && !strings.HasPrefix(plain, "[") {
		return plain
	}
	if texts, ok := within(plain); ok {
		return texts
	}
	return plain
}

// within collects the texts that are values in JSON, in their order; ok is false for what is no JSON.
func within(raw string) (string, bool) {
	var b strings.Builder
	var open []bool // for each array or object that is open, whether it is an object
	key := false    // the next text is a key
	for dec := json.NewDecoder(strings.NewReader(raw)); ; {
		t, err := dec.Token()
		if err != nil {
			return b.String(), errors.Is(err, io.EOF) && len(open) == 0
		}
		switch t := t.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				open = append(open, t == '{')
			default:
				open = open[:len(open)-1]
			}
			key = len(open) > 0 && open[len(open)-1]
			continue
		case string:
			if key {
				key = false
				continue
			}
			if t != "" {
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(t)
			}
		}
		key = len(open) > 0 && open[len(open)-1]
	}
}
