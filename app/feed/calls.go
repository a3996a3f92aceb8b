package feed

import (
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// CallList is a list of calls.
type CallList []protocol.CallInfo

// On returns the calls in progress on a machine.
func (l CallList) On(id protocol.NodeID) []protocol.CallInfo {
	return lists.Without(l, func(c protocol.CallInfo) bool { return c.Node != id || c.Over() })
}

func (l CallList) with(c protocol.CallInfo) CallList {
	same := func(x protocol.CallInfo) bool { return x.CallID == c.CallID }
	if c.Over() && c.ToolCallID == "" { // no message will follow
		return lists.Without(l, same)
	}
	return lists.Replace(l, c, same)
}

// answered returns the calls without the one whose result a message has.
func (l CallList) answered(m protocol.Message) CallList {
	return lists.Without(l, func(c protocol.CallInfo) bool { return c.RunID == m.RunID && c.ToolCallID == m.ToolCallID })
}
