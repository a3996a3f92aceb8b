package protocol

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ForPerson words a text that a call's error has for models as the person reads it.
func ForPerson(text string) string {
	for _, c := range [][2]string{
		{DeniedByPerson + DenialReason, "You denied this: "},
		{DeniedByPerson, "You denied this."},
		{ChangedCallFailed, "The call could not run as you changed it: "},
	} {
		if rest, ok := strings.CutPrefix(text, c[0]); ok {
			return c[1] + rest
		}
	}
	return text
}

// Output returns the part of a tool's result that people read. ok is false if the result is a JSON
// object without such a part; text is then the result.
func Output(s string) (text string, ok bool) {
	if rest, ok := strings.CutPrefix(s, "Error: "); ok {
		if _, until, found := strings.Cut(rest, OutputSoFar); found {
			return Output(until)
		}
		return ForPerson(rest), true
	}
	trimmed := strings.TrimSpace(s)
	if !strings.HasPrefix(trimmed, "{") {
		return s, true
	}
	var m map[string]any
	if json.Unmarshal([]byte(trimmed), &m) != nil {
		for _, k := range textKeys {
			if text, ok := lenientString(trimmed, k); ok {
				return text, true
			}
		}
		return s, true
	}
	if text, ok := textOf(m); ok {
		return text, true
	}
	return s, false
}

// textOf returns the texts of a result, or its matches.
func textOf(m map[string]any) (text string, ok bool) {
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
		return strings.Join(parts, "\n"), true
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
		return strings.Join(lines, "\n"), true
	}
	return "", status != "" && m["tail"] != nil && status != "running" // a command without output
}

var textKeys = []string{"output", "stdout", "stderr", "content", "tail", "error"}

// lenientString reads the string value of a key from JSON that is invalid at some later position.
func lenientString(s, key string) (string, bool) {
	_, rest, ok := strings.Cut(s, `"`+key+`":"`)
	var b strings.Builder
	for rest != "" && rest[0] != '"' {
		r, _, after, err := strconv.UnquoteChar(rest, '"')
		if err != nil { // the escape sequence was cut off, or is valid in JSON only
			rest = rest[1:]
			continue
		}
		b.WriteRune(r)
		rest = after
	}
	return b.String(), ok
}

// OutputSoFar precedes, in the result of a call that ended early, its output until then.
const OutputSoFar = "\nUntil then: "

// Parts of the notes of a machine on a command, which are for the agent; windows word them for the
// person.
const (
	NoteMayAsk    = "The person may be asked whether to keep it."
	noteIsAsked   = "You are asked whether to keep it."
	NoteAskFor    = ": ask for it with changes: "
	NoteAskForEnd = " if the command must change it."
)
