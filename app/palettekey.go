package app

import (
	"context"

	"fairlead/app/host"
	"fairlead/app/palette"
	"fairlead/app/services"
	"fairlead/app/settings"
	"fairlead/app/shortcuts"
	"fairlead/app/window"
)

// paletteKey opens the palette over the main window, or closes it.
type paletteKey struct {
	ctx    context.Context
	env    host.Env
	window *window.Window
	pages  *pages
}

func (k paletteKey) press() {
	k.window.Show()
	c := k.window.Chat.Window.Canvas()
	if v, ok := c.Overlays().Top().(*palette.View); ok {
		v.Close()
		return
	}
	palette.Show(k.ctx, k.env.Host, palette.NewModel(k.env.Feed, k.entries()), c)
}

// entries are the actions and the pages of the program.
func (k paletteKey) entries() []palette.Entry {
	list := []palette.Entry{
		{Icon: "plus", Title: "Start a new chat", Words: "conversation", Do: k.window.Chats.Actions.Create},
		{Icon: "plus", Title: "Add a machine", Words: "pair connect computer device invite", Target: host.NewMachine{}},
		{Icon: "plus", Title: "Forward a port", Words: "tunnel local ssh machine", Target: host.Forward("")},
		{Icon: "plus", Title: "Publish an app", Words: "service share web address url", Target: host.New(services.Title)},
		{Icon: "plus", Title: "New schedule", Words: "cron repeat every timer", Target: host.New("Schedule")},
		{Icon: "plus", Title: "New rule", Words: "allow deny approval permission", Target: host.New("Approvals and rules")},
		{Icon: "plus", Title: "New skill", Words: "instructions", Target: host.New("Skills")},
		{Icon: "plus", Title: "Add an MCP server", Words: "tool", Target: host.New("Tools")},
		{Icon: "eye", Title: "Show who can reach what", Words: "exposure public access tokens security revoke close", Target: host.Exposure},
		{Icon: "search", Title: "Search all messages", Words: "find text", Target: host.Search("")},
		{Icon: "send", Title: "Send files", Words: "transfer copy upload", Target: host.SendFiles("")},
		{Icon: "needsyou", Title: "Answer the next question", Words: "approve allow deny", Do: k.window.Chats.Attention.NextQuestion},
		{Icon: "question", Title: shortcuts.Title, Words: "help keys", Target: host.Page(shortcuts.Title)},
	}
	for i := range list {
		list[i].Kind = "Action"
	}
	add := func(kind string, entries []host.Entry) {
		for _, e := range entries {
			list = append(list, palette.Entry{Icon: e.Icon, Title: e.Title, Kind: kind, Target: host.Page(e.Title)})
		}
	}
	add("Page", k.pages.foot())
	add("Page", k.pages.others())
	add("Settings", k.pages.ofSettings())
	for _, title := range settings.OwnTitles {
		list = append(list, palette.Entry{Icon: "settings", Title: title, Kind: "Settings", Target: host.Page(title)})
	}
	return append(list, palette.Entry{Icon: "settings", Title: settingsTitle, Kind: "Page", Words: "preferences options", Target: host.Settings})
}
