package sidebar

import (
	"strings"

	"fairlead/app/chats"
	"fairlead/gateway/protocol"
)

// Headings of the sections. Those of the questions and of the machines open their pages.
const (
	needsHead    = "NEEDS YOU"
	chatsHead    = "CHATS"
	machinesHead = "MACHINES"
)

// filterHead is the heading of the chats of a filter.
func filterHead(f chats.Filter) string {
	switch {
	case f.Archived:
		return "ARCHIVED"
	case f.Tag != "":
		return strings.ToUpper(f.Tag)
	}
	return chatsHead
}

// noChats says that a filter finds nothing.
func noChats(f chats.Filter) string {
	if f.Archived {
		return "No archived chats"
	}
	return "No chats with this tag"
}

// chatNote says in a word what a chat does or is; empty for an ordinary one. A question about one of
// its calls has a dot instead.
func chatNote(e protocol.SessionEntry, facts chatFacts, isUnread bool, f chats.Filter) string {
	switch {
	case facts.asking[e.SessionKey]:
	case facts.working[e.SessionKey]:
		return "working"
	case isUnread:
		return "new"
	case e.Archived && !f.Archived:
		return "archived"
	case len(e.Tags) > 0 && f.Tag == "":
		return e.Tags[0]
	}
	return ""
}
