package sidebar

import (
	"maps"
	"slices"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// Unread tracks the chats with messages that the person has not seen yet.
type Unread struct {
	// time of the last seen activity per chat; nil before the very first view. Never changed in place
	seen map[protocol.SessionKey]int64
	save func(seen map[protocol.SessionKey]int64)
	// runs whose answers another client has shown, so that their chats became read
	elsewhere map[protocol.RunID]bool
}

// NewUnread starts with what was saved as seen; nil at the very first start.
func NewUnread(seen map[protocol.SessionKey]int64, save func(seen map[protocol.SessionKey]int64)) *Unread {
	return &Unread{seen: seen, save: save}
}

// readElsewhere returns until when chats are read because another client has shown their answers.
func (u *Unread) readElsewhere(v feed.View) map[protocol.SessionKey]int64 {
	var read map[protocol.SessionKey]int64
	for _, r := range v.Runs.Ended {
		if u.elsewhere[r.RunID] || !feed.ShownElsewhere(v, r) {
			continue
		}
		if u.elsewhere == nil {
			u.elsewhere = make(map[protocol.RunID]bool)
		}
		if read == nil {
			read = make(map[protocol.SessionKey]int64)
		}
		u.elsewhere[r.RunID], read[r.SessionKey] = true, r.EndedAt
	}
	return read
}

// Update processes a view: visible chats become read. At the very first start all chats do.
func (u *Unread) Update(v feed.View, isVisible func(protocol.SessionKey) bool) {
	if !v.Status.Loaded || v.Sessions.Loading {
		return
	}
	first := u.seen == nil
	elsewhere := u.readElsewhere(v)
	isUnseen := func(e protocol.SessionEntry) bool {
		return isVisible(e.SessionKey) && u.seen[e.SessionKey] < e.LastActiveAt
	}
	if !first && elsewhere == nil && len(u.seen) <= len(v.Sessions.List) && !slices.ContainsFunc(v.Sessions.List, isUnseen) {
		return // as for most views, of which there are many while an answer arrives
	}
	next := make(map[protocol.SessionKey]int64, len(v.Sessions.List)) // drops deleted chats
	for _, e := range v.Sessions.List {
		at, known := u.seen[e.SessionKey]
		if first || isVisible(e.SessionKey) {
			at, known = max(at, e.LastActiveAt), true
		}
		if read := min(elsewhere[e.SessionKey], e.LastActiveAt); read > at {
			at, known = read, true
		}
		if known {
			next[e.SessionKey] = at
		}
	}
	if u.seen == nil || !maps.Equal(next, u.seen) {
		u.seen = next
		u.save(next)
	}
}

// Has reports whether a chat has such messages.
func (u *Unread) Has(e protocol.SessionEntry) bool {
	return u.seen != nil && e.MessageCount > 0 && e.LastActiveAt > u.seen[e.SessionKey]
}

// Mark marks chats as read or unread.
func (u *Unread) Mark(read bool, chats ...protocol.SessionEntry) {
	next := maps.Clone(u.seen)
	if next == nil {
		return // the first view has not arrived
	}
	for _, e := range chats {
		next[e.SessionKey] = e.LastActiveAt
		if !read {
			next[e.SessionKey]--
		}
	}
	u.seen = next
	u.save(next)
}
