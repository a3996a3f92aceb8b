package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// longArgument is from how many bytes on an argument stands in a block of its own.
const longArgument = 80

// argumentWords are what people call arguments of the tools; a command needs no word.
var argumentWords = map[string]string{"command": "", "oldString": "instead of", "newString": "stands", "content": "content"}

// callMarkdown is a call as a person reads it: the tool and its machine, short arguments in a list, and commands and texts in blocks.
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
		fmt.Fprintf(&b, "\n%s\n", fenced(string(call.Arguments)))
		return b.String()
	}
	apart := "\n" // of the list from the title
	var blocks strings.Builder
	for _, a := range args {
		words, known := argumentWords[a.name]
		if !known {
			words = a.name
		}
		if !known && len(a.text) < longArgument && !strings.Contains(a.text, "\n") {
			fmt.Fprintf(&b, "%s- %s: %s\n", apart, words, ticked(a.text))
			apart = ""
			continue
		}
		if words != "" {
			fmt.Fprintf(&blocks, "\n%s:\n", words)
		}
		fmt.Fprintf(&blocks, "\n%s\n", fenced(a.text))
	}
	return b.String() + blocks.String()
}

type argument struct{ name, text string }

// orderedArgs are the fields of a JSON object in their order: strings as they are, anything else as JSON. ok is false when it is no object.
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

// ticked is a text as code within a line.
func ticked(text string) string {
	tick := "`"
	for strings.Contains(text, tick) {
		tick += "`"
	}
	if text == "" || len(tick) > 1 {
		return tick + " " + text + " " + tick
	}
	return tick + text + tick
}
