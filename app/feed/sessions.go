package feed

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Sessions has the chats.
type Sessions struct {
	List      ChatList                // the person's chats, newest activity first
	Scheduled []protocol.SessionEntry // the chats of schedules, in no order; they are shown with their schedules
	// Loading reports that List lacks older chats, which are being loaded.
	Loading bool
}

func (s *Sessions) set(all []protocol.SessionEntry) {
	isScheduled := func(e protocol.SessionEntry) bool { return e.Schedule != "" }
	s.List = lists.Without(all, isScheduled)
	s.Scheduled = lists.Without(all, func(e protocol.SessionEntry) bool { return !isScheduled(e) })
	s.Loading = len(all) >= protocol.MaxSnapshotSessions
}

func (s *Sessions) apply(e protocol.SessionEntry) {
	same := func(x protocol.SessionEntry) bool { return x.SessionKey == e.SessionKey }
	if e.Schedule != "" {
		s.Scheduled = lists.Replace(s.Scheduled, e, same)
		return
	}
	s.List = lists.Replace(s.List, e, same)
	sortByActivity(s.List)
}

func (s *Sessions) remove(key protocol.SessionKey) {
	same := func(e protocol.SessionEntry) bool { return e.SessionKey == key }
	s.List, s.Scheduled = lists.Without(s.List, same), lists.Without(s.Scheduled, same)
}

// olderPage is the number of chats per request for those that the snapshot does not have.
const olderPage = 500

// loadOlderChats loads the chats that a snapshot with so many chats does not have.
func (to follower) loadOlderChats(ctx context.Context, offset int) {
	f := to.feed
	for {
		r, err := Call(ctx, f, protocol.SessionsList, protocol.SessionsListParams{Offset: offset, Limit: olderPage})
		if err != nil {
			f.Tasks.Fail(err)
			return
		}
		offset += len(r.Sessions)
		done := len(r.Sessions) == 0 || offset >= r.Count
		f.Sessions.Update(func(s *Sessions) {
			s.List, s.Loading = s.List.withOlder(r.Sessions), !done
		})
		if done {
			return
		}
	}
}

// sortByActivity sorts chats, the newest activity first.
func sortByActivity(list []protocol.SessionEntry) {
	slices.SortStableFunc(list, func(a, b protocol.SessionEntry) int { return cmp.Compare(b.LastActiveAt, a.LastActiveAt) })
}

// TitleOf returns a chat's title in lists.
func TitleOf(s protocol.SessionEntry) string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Main:
		return "Main chat"
	}
	return "New chat"
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

// withOlder returns the chats with those of another list that are not among them.
func (l ChatList) withOlder(more []protocol.SessionEntry) ChatList {
	known := make(map[protocol.SessionKey]bool, len(l))
	for _, e := range l {
		known[e.SessionKey] = true
	}
	out := append(slices.Clone(l), lists.Without(more, func(e protocol.SessionEntry) bool { return known[e.SessionKey] })...)
	sortByActivity(out)
	return out
}
