package display

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Readable formats a tool's result: of a JSON object its output, text, or matches; other JSON is
// indented. JSON that was truncated for the model is read as far as possible.
func Readable(s string) string {
	text, ok := protocol.Output(s)
	var b bytes.Buffer
	if ok || json.Indent(&b, []byte(strings.TrimSpace(s)), "", "  ") != nil {
		return text
	}
	return b.String()
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

// leftOut is the note in the middle of a long result for the part that the model did not get.
var leftOut = regexp.MustCompile(`\[… (\d+) bytes left out; ask for a part of it …\]`)

// LeftOut replaces the note about the missing part of a long result by one for people. bytes is the
// length of that part; 0 if the result is complete.
func LeftOut(text string) (shown string, bytes int64) {
	shown = leftOut.ReplaceAllStringFunc(text, func(note string) string {
		n, _ := strconv.ParseInt(leftOut.FindStringSubmatch(note)[1], 10, 64)
		bytes += n
		return "⋯ " + format.Size(n) + " not shown"
	})
	return shown, bytes
}

// UnknownOutcome says that nobody knows what a call has done.
func UnknownOutcome(machine string) string {
	return "Outcome unknown: the connection to " + cmp.Or(machine, "the machine") + " was lost while this ran, so it may have finished or not. " +
		"Check before you run it again."
}
