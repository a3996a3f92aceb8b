package chatwindow

import (
	"slices"
	"time"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/sidebar"
	"fairlead/gateway/protocol"
)

// Attention leads to the chats that have something new or need the person.
type Attention struct {
	main   Main
	host   host.Host // of the main window
	feed   *feed.Feed
	unread *sidebar.Unread
}

// unreadChats returns the listed chats with something new, in the order of the list.
func (a *Attention) unreadChats() (list []protocol.SessionEntry) {
	for _, g := range chats.Groups(a.feed.View().Sessions.List, chats.Filter{}, time.Now()) {
		for _, e := range g.Chats {
			if a.unread.Has(*e) {
				list = append(list, *e)
			}
		}
	}
	return list
}

// OpenUnread opens the next unread chat below the present one in the list, or above it.
func (a *Attention) OpenUnread(step int) {
	list := a.unreadChats()
	if len(list) == 0 {
		a.main.Frame().Messages.Show("No unread chats.")
		return
	}
	var order []protocol.SessionKey
	for _, g := range chats.Groups(a.feed.View().Sessions.List, chats.Filter{}, time.Now()) {
		for _, e := range g.Chats {
			order = append(order, e.SessionKey)
		}
	}
	shown := slices.Index(order, a.main.Frame().Page.Key())
	if shown < 0 && step < 0 {
		shown = len(order)
	}
	for range order {
		shown = (shown + step + len(order)) % len(order)
		if slices.ContainsFunc(list, func(e protocol.SessionEntry) bool { return e.SessionKey == order[shown] }) {
			break
		}
	}
	a.main.Choose(order[shown])
}

// NextQuestion opens the next chat that waits for the person, at its question. Without one, it lists
// what else needs the person, such as a device that wants to pair.
func (a *Attention) NextQuestion() {
	q, ok := a.feed.View().NextQuestion(a.main.Frame().Page.Key())
	switch {
	case !ok && a.feed.View().Needs() > 0:
		a.host.Open(host.Question(""))
		return
	case !ok:
		a.main.Frame().Messages.Show("Nothing needs you.")
		return
	case q.SessionKey == "":
		a.host.Open(host.Question(q.ID))
		return
	}
	a.main.Choose(q.SessionKey)
	a.main.Frame().Page.Pane.ScrollToEnd()
}

// MarkRead marks chats as read or unread.
func (a *Attention) MarkRead(read bool, list ...protocol.SessionEntry) {
	a.unread.Mark(read, list...)
	a.main.Update()
}
