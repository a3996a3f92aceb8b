package question

import (
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// ToolsWords are the words about changed tools of an MCP server.
func ToolsWords(q protocol.Question, _ feed.View, _ time.Time) Words {
	return Words{Title: strings.TrimSuffix(display.ToolsQuestion(*q.Tools), "."), Body: ToolsWait}
}

// ToolsWait says what happens to changed tools until the person answers.
const ToolsWait = "The agent does not get them before you accept them."
