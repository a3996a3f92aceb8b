package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// maxOutput is how much of the end of a result a card shows, in bytes. Copy copies the same part.
const maxOutput = 256 << 10

// outputEnd returns the end of a result. It starts at a line if one begins near the limit, and
// never within a character.
func outputEnd(s string) string {
	s = s[len(s)-maxOutput:]
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < maxOutput/8 {
		return s[i+1:]
	}
	for i := range min(len(s), utf8.UTFMax) {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s
}

// argument returns a one-line summary of a call's most informative argument, and its full text if
// that is longer.
func argument(raw json.RawMessage) (line, whole string) {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return "", ""
	}
	get := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := args[k].(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
	path := get("path", "file_path", "filePath", "file")
	switch {
	case get("command") != "":
		whole = get("command")
	case get("pattern") != "":
		whole = get("pattern")
		if path != "" && path != "." {
			line = whole + "  in " + path
		}
	case path != "":
		line = path
		if content := get("content"); content != "" {
			whole = content
		} else if old, new := get("oldString", "old_string"), get("newString", "new_string"); old != "" || new != "" {
			whole = "− " + strings.ReplaceAll(old, "\n", "\n− ") + "\n+ " + strings.ReplaceAll(new, "\n", "\n+ ")
		}
	case get("query", "url", "name", "text") != "":
		whole = get("query", "url", "name", "text")
	case len(args) > 0:
		var b bytes.Buffer
		if json.Compact(&b, raw) == nil {
			line = b.String()
		}
		var pretty bytes.Buffer
		if json.Indent(&pretty, raw, "", "  ") == nil && len(line) > 60 {
			whole = pretty.String()
		}
	}
	if line == "" {
		line = whole
	}
	first, _, many := strings.Cut(strings.TrimSpace(line), "\n")
	if many {
		first += " …"
	}
	if !many && len(first) < 60 && whole != "" && strings.HasPrefix(line, whole) {
		whole = ""
	}
	return first, whole
}
