package chatwindow

import (
	"slices"
	"time"

	"fairlead/app/chats"
	"fairlead/app/host"
	"fairlead/gateway/protocol"
)

// unreadChats returns the listed chats with something new, in the order of the list.
func (cw *Windows) unreadChats() (list []protocol.SessionEntry) {
	for _, g := range chats.Groups(cw.o.Feed.View().Sessions.List, chats.Filter{}, time.Now()) {
		for _, e := range g.Chats {
			if cw.o.Unread.Has(*e) {
				list = append(list, *e)
			}
		}
	}
	return list
}

// OpenUnread opens the next unread chat below the present one in the list, or above it.
func (cw *Windows) OpenUnread(step int) {
	list := cw.unreadChats()
	if len(list) == 0 {
		cw.Main.Frame().Messages.Show("No unread chats.")
		return
	}
	var order []protocol.SessionKey
	for _, g := range chats.Groups(cw.o.Feed.View().Sessions.List, chats.Filter{}, time.Now()) {
		for _, e := range g.Chats {
			order = append(order, e.SessionKey)
		}
	}
	shown := slices.Index(order, cw.Main.Frame().Page.Key())
	if shown < 0 && step < 0 {
		shown = len(order)
	}
	for range order {
		shown = (shown + step + len(order)) % len(order)
		if slices.ContainsFunc(list, func(e protocol.SessionEntry) bool { return e.SessionKey == order[shown] }) {
			break
		}
	}
	cw.Main.Choose(order[shown])
}

// NextQuestion opens the next chat that waits for the person, at its question. Without one, it lists
// what else needs the person, such as a device that wants to pair.
func (cw *Windows) NextQuestion() {
	q, ok := cw.o.Feed.View().NextQuestion(cw.Main.Frame().Page.Key())
	switch {
	case !ok && cw.o.Feed.View().Needs() > 0:
		cw.o.Env(nil).Open(host.Question(""))
		return
	case !ok:
		cw.Main.Frame().Messages.Show("Nothing needs you.")
		return
	case q.SessionKey == "":
		cw.o.Env(nil).Open(host.Question(q.ID))
		return
	}
	cw.Main.Choose(q.SessionKey)
	cw.Main.Frame().Page.Pane.ScrollToEnd()
}
