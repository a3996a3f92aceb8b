package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// markdown renders a chat as Markdown.
func markdown(c Chat) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(c.Title, "\n", " "))
	for _, m := range c.Messages {
		at := c.timeText(m)
		text := m.Content.Text()
		switch {
		case m.Origin == protocol.OriginNotice:
			fmt.Fprintf(&b, "\n*%s*\n", text)
		case m.Origin == protocol.OriginEvent:
			fmt.Fprintf(&b, "\n*%s*\n", c.eventText(m))
		case m.Role == protocol.RoleUser && m.Origin == protocol.OriginDirect:
			fmt.Fprintf(&b, "\n## You · %s\n\n%s\n", at, format.Fence(text, "```"))
		case m.Origin == protocol.OriginSchedule:
			fmt.Fprintf(&b, "\n## Schedule · %s\n\n%s\n", at, m.RequestText())
		case m.Role == protocol.RoleUser:
			fmt.Fprintf(&b, "\n## You · %s\n\n%s\n", at, text)
		case m.Role == protocol.RoleAssistant:
			if text != "" {
				fmt.Fprintf(&b, "\n## Fairlead · %s\n\n%s\n", at, text)
			}
			for _, call := range m.Content.Calls() {
				fmt.Fprintf(&b, "\n%s", callMarkdown(call, c))
			}
			if m.ErrorMessage != "" {
				fmt.Fprintf(&b, "\n*%s*\n", m.ErrorMessage)
			}
		case m.Role == protocol.RoleToolResult:
			if text = resultText(m); text != "" {
				fmt.Fprintf(&b, "\n%s\n", format.Fence(text, "```"))
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

// longArgument is the size in bytes from which an argument gets a block of its own.
const longArgument = 80

// argumentWords are the labels of tool arguments; a command needs none.
var argumentWords = map[string]string{"command": "", "oldString": "old text", "newString": "new text", "content": "content"}

// callMarkdown renders a call: its tool, short arguments as a list, commands and texts as blocks.
func callMarkdown(call protocol.Block, c Chat) string {
	name, where := c.callName(call)
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**%s\n", name, where)
	args, ok := orderedArgs(call.Arguments)
	if !ok {
		fmt.Fprintf(&b, "\n%s\n", format.Fence(string(call.Arguments), "```"))
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
		fmt.Fprintf(&blocks, "\n%s\n", format.Fence(a.text, "```"))
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
	tick := format.Delimiter(text, "`")
	if text == "" || len(tick) > 1 {
		return tick + " " + text + " " + tick
	}
	return tick + text + tick
}

// resultText returns the readable part of a tool's result, without notes for the model and the
// terminal's control sequences.
func resultText(m protocol.Message) string {
	return ansi.Strip(display.Readable(m.Content.ResultText()))
}
