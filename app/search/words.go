package search

import (
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// authorOf describes the author and time of a message, and whether its chat was reset since.
func authorOf(v feed.View, h protocol.SearchHit, now time.Time) string {
	who := "Fairlead"
	switch {
	case h.Role == protocol.RoleUser:
		who = "You"
	case h.ToolName != "":
		who = string(h.ToolName)
		if node, verb, ok := h.ToolName.Split(); ok {
			who = verb + " on " + v.Machines.Name(node)
		}
	}
	who += " · " + format.When(h.Timestamp, now)
	if h.Archived {
		who += " · earlier conversation"
	}
	return who
}
