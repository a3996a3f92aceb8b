package sidebar

import (
	"testing"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// TestChatReadInATerminalIsNotNew ends runs of a terminal and of this window.
func TestChatReadInATerminalIsNotNew(t *testing.T) {
	u := NewUnread(nil, func(map[protocol.SessionKey]int64) {})
	never := func(protocol.SessionKey) bool { return false }
	u.Update(feed.View{Status: feed.Status{Loaded: true}}, never)
	v := feed.View{Status: feed.Status{Loaded: true}, Runs: feed.Runs{Ended: []protocol.RunInfo{
		{RunID: "1", SessionKey: "a", State: protocol.RunDone, EndedAt: 20, By: "owner cli-8d3f"}, {RunID: "2", SessionKey: "b", State: protocol.RunDone, EndedAt: 20, By: "owner this computer"},
	}}}
	for _, key := range []protocol.SessionKey{"a", "b"} {
		v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: key, LastActiveAt: 19, MessageCount: 2})
	}
	u.Update(v, never)
	if u.Has(v.Sessions.List[0]) || !u.Has(v.Sessions.List[1]) {
		t.Errorf("new: got %t and %t, want only the chat of this window", u.Has(v.Sessions.List[0]), u.Has(v.Sessions.List[1]))
	}
	u.Mark(false, v.Sessions.List[0])
	u.Update(v, never)
	if !u.Has(v.Sessions.List[0]) {
		t.Error("a chat that the person marked as unread became read again")
	}
}
