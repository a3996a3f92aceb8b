package feed

import (
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// MachineList is a list of machines.
type MachineList []protocol.NodeInfo

// Local finds the machine that runs in the gateway's own process.
func (l MachineList) Local() (protocol.NodeInfo, bool) {
	return lists.Find(l, func(n protocol.NodeInfo) bool { return n.Local })
}

// Find finds a machine.
func (l MachineList) Find(id protocol.NodeID) (protocol.NodeInfo, bool) {
	return lists.Find(l, func(n protocol.NodeInfo) bool { return n.ID == id })
}

// Name returns the display name of a machine ID, even if the machine no longer exists.
func (l MachineList) Name(id protocol.NodeID) string {
	if n, ok := l.Find(id); ok {
		return NameOf(n)
	}
	return string(id)
}

// ChatList is a list of chats.
type ChatList []protocol.SessionEntry

// Unused returns the newest chat that has no messages and that the person has not named, organized
// or configured. It ignores the main chat, and returns "" if there is no such chat.
func (l ChatList) Unused() protocol.SessionKey {
	for _, e := range l {
		isConfigured := e.Settings != nil && *e.Settings != (protocol.SessionPrefs{})
		isTouched := e.Title != "" || isConfigured || e.Pinned || e.Archived || len(e.Tags) > 0
		if e.MessageCount == 0 && !e.Main && !isTouched {
			return e.SessionKey
		}
	}
	return ""
}

// TagCount is a tag and the number of chats with it that are not archived.
type TagCount struct {
	Name  string
	Chats int
}

// Tags returns all tags, sorted.
func (l ChatList) Tags() (list []TagCount) {
	count := make(map[string]int)
	for _, e := range l {
		for _, t := range e.Tags {
			count[t] += map[bool]int{false: 1}[e.Archived]
		}
	}
	for name, n := range count {
		list = append(list, TagCount{name, n})
	}
	slices.SortFunc(list, func(a, b TagCount) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Archived returns the number of archived chats.
func (l ChatList) Archived() (n int) {
	for i := range l {
		if l[i].Archived {
			n++
		}
	}
	return n
}

// CallList is a list of calls.
type CallList []protocol.CallInfo

// On returns the calls in progress on a machine.
func (l CallList) On(id protocol.NodeID) []protocol.CallInfo {
	return lists.Without(l, func(c protocol.CallInfo) bool { return c.Node != id || c.Over() })
}

// QuestionList is a list of questions.
type QuestionList []protocol.Question

// Of returns the questions of some kinds.
func (l QuestionList) Of(kinds ...string) []protocol.Question {
	return lists.Without(l, func(q protocol.Question) bool { return !slices.Contains(kinds, q.Kind) })
}
