package display

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// ToolsQuestion says which tools of an MCP server have changed or are new: “notes” has changed its
// tool “add”.
func ToolsQuestion(q protocol.ToolsSubject) string {
	server := "“" + format.Line(string(q.Server), 40) + "”"
	n := len(q.Tools)
	areNew := !slices.ContainsFunc(q.Tools, func(t protocol.ServerTool) bool { return t.Before != "" || t.Diff != "" })
	names := make([]string, 0, 3)
	for _, t := range q.Tools[:min(n, 3)] {
		names = append(names, "“"+format.Line(t.Name, 40)+"”")
	}
	list := strings.Join(names, ", ")
	switch {
	case n == 1 && areNew:
		return server + " has a new tool: " + list + "."
	case n == 1:
		return server + " has changed its tool " + list + "."
	case n > len(names):
		list += fmt.Sprintf(" and %d more", n-len(names))
	}
	if areNew {
		return fmt.Sprintf("%s has %d new tools: %s.", server, n, list)
	}
	return fmt.Sprintf("%s has changed or added %d tools: %s.", server, n, list)
}
