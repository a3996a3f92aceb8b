package state

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fairlead/gateway/protocol"
)

// Markdown renders a conversation as Markdown, with the display names of machines.
func Markdown(title string, messages []protocol.Message, v View, zone *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(title, "\n", " "))
	for _, m := range messages {
		at := time.UnixMilli(m.Timestamp).In(zone).Format("2 Jan 2006 15:04")
		text := m.Content.Text()
		switch {
		case m.Origin == protocol.OriginNotice:
			fmt.Fprintf(&b, "\n*%s*\n", text)
		case m.Origin == protocol.OriginEvent:
			c, _ := m.Completion()
			fmt.Fprintf(&b, "\n*%s*\n", c.Words(v.MachineName(c.NodeID)))
		case m.Role == protocol.RoleUser && m.Origin == protocol.OriginDirect:
			fmt.Fprintf(&b, "\n## You · %s\n\n%s\n", at, codeBlock(text))
		case m.Role == protocol.RoleUser:
			fmt.Fprintf(&b, "\n## You · %s\n\n%s\n", at, text)
		case m.Role == protocol.RoleAssistant:
			if text != "" {
				fmt.Fprintf(&b, "\n## Fairlead · %s\n\n%s\n", at, text)
			}
			for _, call := range m.Content.Calls() {
				fmt.Fprintf(&b, "\n%s", callMarkdown(call, v))
			}
			if m.ErrorMessage != "" {
				fmt.Fprintf(&b, "\n*%s*\n", m.ErrorMessage)
			}
		case m.Role == protocol.RoleToolResult:
			if text = ansi.Strip(Readable(m.Content.ResultText())); text != "" {
				fmt.Fprintf(&b, "\n%s\n", codeBlock(text))
			}
		}
		for _, block := range m.Content {
			if block.Type == protocol.BlockImage {
				fmt.Fprintf(&b, "\n*(picture: %s)*\n", cmp.Or(block.Filename, "image"))
			}
		}
	}
	return b.String()
}

// fenceFor returns a fence of at least the given backquotes that a text does not contain.
func fenceFor(text, fence string) string {
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

func codeBlock(text string) string {
	fence := fenceFor(text, "```")
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// longArgument is the size in bytes from which an argument gets a block of its own.
const longArgument = 80

// argumentWords are the labels of tool arguments; a command needs none.
var argumentWords = map[string]string{"command": "", "oldString": "old text", "newString": "new text", "content": "content"}

// callMarkdown renders a call: its tool, short arguments as a list, commands and texts as blocks.
func callMarkdown(call protocol.Block, v View) string {
	node, name, _ := protocol.ToolName(call.Name).Split()
	var b strings.Builder
	if name == "" {
		fmt.Fprintf(&b, "**%s**\n", call.Name)
	} else {
		fmt.Fprintf(&b, "**%s**%s\n", name, onMachine(node, v.MachineName(node)))
	}
	args, ok := orderedArgs(call.Arguments)
	if !ok {
		fmt.Fprintf(&b, "\n%s\n", codeBlock(string(call.Arguments)))
		return b.String()
	}
	apart := "\n" // between the title and the list
	var blocks strings.Builder
	for _, a := range args {
		words, known := argumentWords[a.name]
		if !known {
			words = a.name
		}
		if !known && len(a.text) < longArgument && !strings.Contains(a.text, "\n") {
			fmt.Fprintf(&b, "%s- %s: %s\n", apart, words, inlineCode(a.text))
			apart = ""
			continue
		}
		if words != "" {
			fmt.Fprintf(&blocks, "\n%s:\n", words)
		}
		fmt.Fprintf(&blocks, "\n%s\n", codeBlock(a.text))
	}
	return b.String() + blocks.String()
}

type argument struct{ name, text string }

// orderedArgs returns the fields of a JSON object in order: strings without quotes, else JSON.
func orderedArgs(raw json.RawMessage) (args []argument, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil, false
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		args = append(args, argument{fmt.Sprint(name), text})
	}
	return args, true
}

func inlineCode(text string) string {
	tick := fenceFor(text, "`")
	if text == "" || len(tick) > 1 {
		return tick + " " + text + " " + tick
	}
	return tick + text + tick
}

// Readable formats a result: of a JSON object its output, text, or matches; other JSON is indented.
// JSON that was truncated for the model is read as far as possible.
func Readable(s string) string {
	if rest, ok := strings.CutPrefix(s, "Error: "); ok {
		if _, until, found := strings.Cut(rest, OutputSoFar); found {
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
		return "⋯ " + SizeText(n) + " not shown"
	})
	return shown, bytes
}

// UnknownOutcome says that nobody knows what a call has done.
func UnknownOutcome(machine string) string {
	return "Outcome unknown: the connection to " + cmp.Or(machine, "the machine") + " was lost while this ran, so it may have finished or not. " +
		"Check before you run it again."
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
