package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/gateway/protocol"
)

func TestMainViewsLookAsTheyDid(t *testing.T) {
	u := newTestUI(t)
	u.main.conversation.window.Resize(fyne.NewSize(1120, 760))
	u.update(sample())
	golden.Markup(t, "sidebar", u.main.sidebar.box)
	u.main.sidebar.query, u.main.sidebar.results = "nas", []chats.Match{
		{Chat: protocol.SessionEntry{SessionKey: "agent:main:2", Title: "Photos on the NAS"}},
		{Chat: protocol.SessionEntry{SessionKey: "agent:main:3", Title: "Backup"}, Hit: &protocol.SearchHit{Snippet: []protocol.Snippet{{Text: "copy it to the "}, {Text: "nas", Mark: true}, {Text: " at night"}}}},
	}
	u.update(sample())
	golden.Markup(t, "sidebar-search", u.main.sidebar.box)
	u.main.sidebar.query, u.main.sidebar.results, u.main.sidebar.complete = "nothing like it", nil, true
	u.update(sample())
	golden.Markup(t, "sidebar-nothing-found", u.main.sidebar.box)
	u.main.sidebar.query = ""
	u.update(feed.View{})
	golden.Markup(t, "sidebar-empty", u.main.sidebar.box)

	u.update(sample())
	u.main.conversation.window.Resize(fyne.NewSize(500, 700))
	u.main.toggleDrawer()
	golden.Markup(t, "drawer", u.main.drawer)
}

func TestFirstPageLooksAsItDid(t *testing.T) {
	u := newTestUI(t)
	u.main.conversation.window.Resize(fyne.NewSize(1120, 760))
	u.main.setFirstRun(true)
	golden.Markup(t, "first", u.main.first.box)
	u.main.first.showText("None is running.", "muted")
	golden.Markup(t, "first-none", u.main.first.box)
}
