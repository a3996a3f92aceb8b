package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// longArgument is the size in bytes from which an argument gets a block of its own.
const longArgument = 80

// argumentWords are the labels of tool arguments; a command needs none.
var argumentWords = map[string]string{"command": "", "oldString": "old text", "newString": "new text", "content": "content"}

// callMarkdown renders a call: the tool and its machine, short arguments as a list, and commands
// and texts as blocks.
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

// orderedArgs returns the fields of a JSON object in their order: strings without quotes, other
// values as JSON. ok is false if it is not an object.
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

// inlineCode returns a text as inline code.
func inlineCode(text string) string {
	tick := "`"
	for strings.Contains(text, tick) {
		tick += "`"
	}
	if text == "" || len(tick) > 1 {
		return tick + " " + text + " " + tick
	}
	return tick + text + tick
}
