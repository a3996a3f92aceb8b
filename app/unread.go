package app

import (
	"maps"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// unread are the chats in which something was said since the person last had them before their eyes.
type unread struct {
	prefs *prefs
	seen  map[protocol.SessionKey]int64 // when each chat was last active as it was seen; nil until the first view. Never changed in place
}

// look takes a view in: what is before the person's eyes is seen now. At the very first start everything is.
func (u *unread) look(v state.View, eyes func(protocol.SessionKey) bool) {
	if !v.Loaded {
		return
	}
	if u.seen == nil {
		u.seen = u.prefs.get().Seen
	}
	first := u.seen == nil
	next := make(map[protocol.SessionKey]int64, len(v.Sessions)) // without the chats that are gone
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
		u.prefs.update(func(r *remembered) { r.Seen = next })
	}
}

// has reports whether there is something new in a chat.
func (u *unread) has(e protocol.SessionEntry) bool {
	return u.seen != nil && e.MessageCount > 0 && e.LastActiveAt > u.seen[e.SessionKey]
}

// eyes reports whether a chat is on the screen.
func (s *shell) eyes(key protocol.SessionKey) bool {
	return s.torn[key] != nil || s.visible && s.key == key && s.pageTitle == "" && !s.firstRun
}
