package state

import (
	"fmt"
	"strings"
	"time"

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
			if text = Readable(text); text != "" {
				fmt.Fprintf(&b, "\n%s\n", codeBlock(text))
			}
		}
		for _, block := range m.Content {
			if block.Type == protocol.BlockImage {
				name := block.Filename
				if name == "" {
					name = "image"
				}
				fmt.Fprintf(&b, "\n*(picture: %s)*\n", name)
			}
		}
	}
	return b.String()
}

// codeBlock returns a code block with a fence that the text does not contain.
func codeBlock(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
