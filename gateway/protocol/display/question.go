package display

import (
	"fmt"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Line words a question other than those about calls, for a list of all kinds. It is empty for a
// kind that this version does not know.
func Line(q protocol.Question) string {
	switch {
	case q.Pairing != nil:
		title, text := Request(q)
		return title + " " + text
	case q.App != nil:
		return fmt.Sprintf("“%s” (unverified name) wants to use your machines; its browser page shows the code %s.", format.Line(q.App.Name, 60), q.App.Code)
	case q.Input != nil:
		return InputLine(*q.Input)
	case q.Tools != nil:
		return ToolsQuestion(*q.Tools) + " The agent does not get them before you accept them."
	case q.Sender != nil:
		return SenderQuestion(*q.Sender) + SenderMessage(*q.Sender)
	case q.Visit != nil:
		return VisitQuestion(*q.Visit) + " " + VisitorFrom(*q.Visit) + VisitMessage(*q.Visit) + " The app is " + format.Line(q.Visit.URL, 120) + "."
	}
	return ""
}

// InputLine words what an MCP server wants to know.
func InputLine(q protocol.InputSubject) string {
	return fmt.Sprintf("“%s” asks: %s", format.Line(string(q.Server), 40), format.Line(strings.TrimSpace(q.Message+" "+q.URL), 300))
}
