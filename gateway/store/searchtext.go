package store

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"fairlead/gateway/protocol"
)

// searchText returns the text of a message for searching. For a tool's result, which is JSON, that
// is the texts in it, each on its own line. In the raw JSON, the first word of each line would
// start with the n of the escaped line break before it.
func searchText(m protocol.Message, plain string) string {
	if m.Role != protocol.RoleToolResult || !strings.HasPrefix(plain, "{") && !strings.HasPrefix(plain, "[") {
		return plain
	}
	if texts, ok := textValues(plain); ok {
		return texts
	}
	return plain
}

// textValues returns the text values in JSON, in order; ok is false for invalid JSON.
func textValues(raw string) (string, bool) {
	var b strings.Builder
	var open []bool // for each open array or object, whether it is an object
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
