package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Readable formats a result for reading: of a JSON object, the output of a program, the text of a
// file, or a list of matches with one per line; other JSON is indented. A result that was truncated
// for the model is invalid JSON, but its text can still be extracted.
func Readable(s string) string {
	if rest, ok := strings.CutPrefix(s, "Error: "); ok {
		if _, until, found := strings.Cut(rest, "\nUntil then: "); found {
			return Readable(until)
		}
		return rest
	}
	trimmed := strings.TrimSpace(s)
	if !strings.HasPrefix(trimmed, "{") {
		return s
	}
	var m map[string]any
	if json.Unmarshal([]byte(trimmed), &m) != nil {
		for _, k := range textKeys {
			if text, ok := lenientString(trimmed, k); ok {
				return text
			}
		}
		return s
	}
	var parts []string
	for _, k := range textKeys {
		if v, ok := m[k].(string); ok && v != "" {
			if k == "tail" && len(parts) > 0 {
				continue // the end of output
			}
			parts = append(parts, strings.TrimRight(v, "\n"))
		}
	}
	status, _ := m["status"].(string)
	if pid, ok := m["pid"].(float64); ok && status == "running" && m["sessionId"] != nil {
		parts = append(parts, fmt.Sprintf("Running in the background as process %.0f. This chat is notified when it ends.", pid))
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n")
	}
	if matches, ok := m["matches"].([]any); ok {
		lines := make([]string, 0, len(matches))
		for _, x := range matches {
			switch x := x.(type) {
			case string:
				lines = append(lines, x)
			case map[string]any:
				lines = append(lines, fmt.Sprintf("%v:%v: %v", x["path"], x["line"], x["content"]))
			}
		}
		return strings.Join(lines, "\n")
	}
	if status != "" && m["tail"] != nil && status != "running" {
		return "" // a command without output
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(trimmed), "", "  ") != nil {
		return s
	}
	return b.String()
}

var textKeys = []string{"output", "stdout", "stderr", "content", "tail", "error"}

// lenientString reads the string value of a key from JSON that is invalid at some later position.
func lenientString(s, key string) (string, bool) {
	_, rest, ok := strings.Cut(s, `"`+key+`":"`)
	if !ok {
		return "", false
	}
	end := 0
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	rest = rest[:min(end, len(rest))]
	var b strings.Builder
	for rest != "" {
		i := strings.IndexByte(rest, '\\')
		if i < 0 || i+1 >= len(rest) {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		switch c := rest[i+1]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u':
			var r rune
			if len(rest) >= i+6 {
				if _, err := fmt.Sscanf(rest[i+2:i+6], "%04x", &r); err == nil {
					b.WriteRune(r)
					rest = rest[i+6:]
					continue
				}
			}
		default:
			b.WriteByte(c)
		}
		rest = rest[i+2:]
	}
	return b.String(), true
}
