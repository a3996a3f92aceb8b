package app

import (
	"fairlead/app/host"
	"fairlead/app/palette"
	"fairlead/app/settings"
	"fairlead/app/shortcuts"
)

// openPalette opens the palette over the main window, or closes it.
func (n *navigator) openPalette() {
	n.ui.main.show()
	c := n.ui.main.conversation.Window.Canvas()
	if v, ok := c.Overlays().Top().(*palette.View); ok {
		v.Close()
		return
	}
	e := n.ui.env()
	palette.Show(n.ui.ctx, e.Host, palette.NewModel(e.Feed, n.paletteEntries()), c)
}

// paletteEntries are the actions and the pages of the program.
func (n *navigator) paletteEntries() []palette.Entry {
	u, pages := n.ui, fixedPages{n.ui, n}
	list := []palette.Entry{
		{Icon: "plus", Title: "Start a new chat", Words: "conversation", Do: u.chats.Create},
		{Icon: "plus", Title: "Pair a machine", Words: "add connect computer device invite", Target: host.NewMachine{}},
		{Icon: "plus", Title: "New schedule", Words: "cron repeat every timer", Target: host.New("Schedule")},
		{Icon: "plus", Title: "New rule", Words: "allow deny approval permission", Target: host.New("Approvals and rules")},
		{Icon: "plus", Title: "New skill", Words: "instructions", Target: host.New("Skills")},
		{Icon: "plus", Title: "Add an MCP server", Words: "tool", Target: host.New("Tools")},
		{Icon: "search", Title: "Search all messages", Words: "find text", Do: func() { n.search("") }},
		{Icon: "send", Title: "Send files", Words: "transfer copy upload", Target: host.SendFiles("")},
		{Icon: "needsyou", Title: "Answer the next question", Words: "approve allow deny", Do: u.chats.Attention.NextQuestion},
		{Icon: "question", Title: shortcuts.Title, Words: "help keys", Do: n.openShortcuts},
	}
	for i := range list {
		list[i].Kind = "Action"
	}
	for _, p := range pages.all() {
		list = append(list, palette.Entry{Icon: p.icon, Title: p.title, Kind: "Page", Do: func() { n.open(p) }})
	}
	for _, e := range pages.settings() {
		list = append(list, palette.Entry{Icon: e.Icon, Title: e.Title, Kind: "Settings", Target: host.Page(e.Title)})
	}
	for _, title := range settings.OwnTitles {
		list = append(list, palette.Entry{Icon: "settings", Title: title, Kind: "Settings", Target: host.Page(title)})
	}
	return append(list, palette.Entry{Icon: "settings", Title: settingsTitle, Kind: "Page", Words: "preferences options", Target: host.Page(settingsTitle)})
}
