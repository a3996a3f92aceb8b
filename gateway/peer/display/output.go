package display

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// Readable formats a tool's result: of a JSON object its output, text, or matches; other JSON is
// indented. JSON that was truncated for the model is read as far as possible.
func Readable(s string) string {
	text, ok := Output(s)
	var b bytes.Buffer
	if ok || json.Indent(&b, []byte(strings.TrimSpace(s)), "", "  ") != nil {
		return text
	}
	return b.String()
}

// ForPerson words a text that a call's error has for models as the person reads it.
func ForPerson(text string) string {
	for _, c := range [][2]string{
		{protocol.DeniedByPerson + protocol.DenialReason, "You denied this: "},
		{protocol.DeniedByPerson, "You denied this."},
		{protocol.ChangedCallFailed, "The call could not run as you changed it: "},
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

// ResultNote returns the remarks of a machine in the result of a command, for the person.
func ResultNote(result string) string {
	var out struct {
		Note string `json:"note"`
	}
	if json.Unmarshal([]byte(strings.TrimSpace(result)), &out) != nil {
		return ""
	}
	return NoteForPerson(out.Note)
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

// leftOut is the note in the middle of a long result for the part that the model did not get.
var leftOut = regexp.MustCompile(`\[… (\d+) bytes left out; ask for a part of it …\]`)

// LeftOut replaces the note about the missing part of a long result by one for people. bytes is the
// length of that part; 0 if the result is complete.
func LeftOut(text string) (shown string, bytes int64) {
	shown = leftOut.ReplaceAllStringFunc(text, func(note string) string {
		n, _ := strconv.ParseInt(leftOut.FindStringSubmatch(note)[1], 10, 64)
		bytes += n
		return "⋯ " + Size(n) + " not shown"
	})
	return shown, bytes
}

// UnknownOutcome says that nobody knows what a call has done.
func UnknownOutcome(machine string) string {
	return "Outcome unknown: the connection to " + cmp.Or(machine, "the machine") + " was lost while this ran, so it may have finished or not. " +
		"Check before you run it again."
}
