package tool

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// Result is the outcome of a call. A tool that failed, was denied or cancelled has a result too,
// with IsError.
type Result struct {
	Info    protocol.CallInfo
	Raw     json.RawMessage  // the complete result of the tool
	Content protocol.Content // the same for a model, cut to a readable size
	IsError bool
}

// resultOf returns the result of a call that has ended.
func resultOf(r Record) Result {
	// A command with an exit code other than 0 has a result: its output.
	i := r.Info
	res := Result{Info: i, Raw: r.ResultJSON, IsError: i.State != protocol.CallDone && (i.Error != "" || i.State != protocol.CallFailed)}
	if i.Error != "" {
		res.Content = errorContent(i, r.ResultJSON)
	} else {
		res.Content = content(r.ResultJSON)
	}
	return res
}

// maxText is the number of bytes of a result that a model gets; the journal stores more.
const maxText = 30_000

// content converts a tool's result to the form that a model reads: a string and well-formed content
// blocks stay as they are, anything else becomes JSON. See docs/protocol.md#tools-and-calls.
func content(raw json.RawMessage) protocol.Content {
	if len(raw) == 0 {
		return protocol.Content{protocol.Text("(no result)")}
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return protocol.Content{protocol.Text(Shorten(s))}
	}
	var blocks struct {
		Content []protocol.Block `json:"content"`
	}
	if json.Unmarshal(raw, &blocks) == nil && len(blocks.Content) > 0 {
		ok := true
		for _, b := range blocks.Content {
			ok = ok && (b.Type == protocol.BlockText || b.Type == protocol.BlockImage && b.Data != "" && b.MimeType != "")
		}
		if ok {
			return blocks.Content
		}
	}
	return protocol.Content{protocol.Text(Shorten(string(raw)))}
}

// errorContent returns the text about a failed call for the model, with the output so far.
func errorContent(info protocol.CallInfo, raw json.RawMessage) protocol.Content {
	if info.State == protocol.CallFailed && len(raw) == 0 {
		return protocol.Content{protocol.Text(protocol.FailureText(info.Node, info.Error))}
	}
	text := "Error: " + info.Error
	if len(raw) > 0 && string(raw) != "null" {
		text += "\nUntil then: " + Shorten(string(raw))
	}
	return protocol.Content{protocol.Text(text)}
}

// Shorten cuts the middle out of a long text and says how much is missing.
func Shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	head, tail := maxText/3, len(s)-maxText*2/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out; ask for a part of it …]\n%s", s[:head], tail-head, s[tail:])
}
