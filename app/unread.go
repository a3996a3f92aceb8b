package app

import (
	"maps"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// unread tracks the chats with messages that the person has not seen yet.
type unread struct {
	prefs *prefs
	// time of the last seen activity per chat; nil until the first view. Never changed in place
	seen map[protocol.SessionKey]int64
}

// update processes a view: visible chats become read. At the very first start all chats do.
func (u *unread) update(v state.View, eyes func(protocol.SessionKey) bool) {
	if !v.Loaded {
		return
	}
	if u.seen == nil {
		u.seen = u.prefs.get().Seen
	}
	first := u.seen == nil
	next := make(map[protocol.SessionKey]int64, len(v.Sessions)) // drops deleted chats
	for _, e := range v.Sessions {
		at, known := u.seen[e.SessionKey]
		if first || eyes(e.SessionKey) {
			at, known = max(at, e.LastActiveAt), true
		}
		if known {
			next[e.SessionKey] = at
		}
	}
	if u.seen == nil || !maps.Equal(next, u.seen) {
		u.seen = next
		u.prefs.update(func(r *preferences) { r.Seen = next })
	}
}

// has reports whether a chat has unread messages.
func (u *unread) has(e protocol.SessionEntry) bool {
	return u.seen != nil && e.MessageCount > 0 && e.LastActiveAt > u.seen[e.SessionKey]
}
