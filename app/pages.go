package app

import (
	"context"
	"fmt"
	"slices"

	"fairlead/app/activity"
	"fairlead/app/apps"
	"fairlead/app/archive"
	"fairlead/app/audit"
	"fairlead/app/backend"
	"fairlead/app/channels"
	"fairlead/app/exposure"
	"fairlead/app/feed"
	"fairlead/app/files"
	"fairlead/app/host"
	"fairlead/app/inbox"
	"fairlead/app/nodes"
	"fairlead/app/notifications"
	"fairlead/app/preferences"
	"fairlead/app/rules"
	"fairlead/app/schedule"
	"fairlead/app/search"
	"fairlead/app/services"
	"fairlead/app/settings"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/skills"
	"fairlead/app/terminal"
	"fairlead/app/tools"
	"fairlead/app/transfers"
	"fairlead/app/window"
	"fairlead/gateway/protocol"
)

// Titles of pages that targets lead to.
const (
	machinesTitle  = "Machines"
	transfersTitle = string(host.Transfers)
	filesTitle     = "Files"
	activityTitle  = "Activity"
	settingsTitle  = string(host.Settings)
	searchTitle    = "Search"
	archivesTitle  = "Earlier conversations"
	inboxTitle     = "Needs you"
)

// pages are the pages of the program: these lists are all that a new page is added to.
type pages struct {
	env     host.Env
	backend *backend.Backend
	notes   *notifications.Notifications
	about   settings.About
	pairing *settings.Pairing // with another gateway, also while another page is shown
	window  func() *window.Window
	keys    func() host.View // the page of shortcuts
}

// foot are the pages listed at the bottom of the sidebar, in this order.
func (p *pages) foot() []host.Entry {
	return []host.Entry{
		{Icon: "folder", Title: filesTitle, New: func(ctx context.Context) host.View { return files.NewPair(ctx, p.env) }},
		{Icon: "transfer", Title: transfersTitle, New: func(ctx context.Context) host.View { return transfers.New(ctx, p.env) }},
		{Icon: "calendar", Title: "Schedule", New: func(ctx context.Context) host.View { return schedule.New(ctx, p.env) }},
		{Icon: "activity", Title: activityTitle, New: func(ctx context.Context) host.View { return activity.New(ctx, p.env) }},
	}
}

// others are the pages with a fixed place that open from the headings of the sidebar or from other
// pages.
func (p *pages) others() []host.Entry {
	return []host.Entry{
		{Icon: "needsyou", Title: inboxTitle, New: func(ctx context.Context) host.View { return inbox.New(ctx, p.env) }},
		{Icon: "machine", Title: machinesTitle, New: p.machines},
		{Icon: "list", Title: "Audit log", New: func(ctx context.Context) host.View { return audit.New(ctx, p.env) }},
	}
}

// passing are the pages that lead back to what was shown before.
func (p *pages) passing() []host.Entry {
	return []host.Entry{
		{Icon: "settings", Title: settingsTitle, New: p.settings, Stays: true},
		{Icon: "search", Title: searchTitle, New: func(ctx context.Context) host.View { return search.New(ctx, p.env) }},
		{Icon: "clock", Title: archivesTitle, New: func(ctx context.Context) host.View { return archive.New(ctx, p.env) }},
		{Icon: "terminal", Title: terminal.Title, New: p.terminal},
		{Icon: "question", Title: shortcuts.Title, New: func(context.Context) host.View { return p.keys() }},
	}
}

// all are the pages that replace the chat.
func (p *pages) all() []host.Entry { return slices.Concat(p.foot(), p.others(), p.passing()) }

// ofSettings are the pages of other packages that the settings show, in this order.
func (p *pages) ofSettings() []host.Entry {
	return []host.Entry{
		{Icon: "shield", Title: "Approvals and rules", New: func(ctx context.Context) host.View { return rules.New(ctx, p.env) }},
		{Icon: "plug", Title: "Tools", New: func(ctx context.Context) host.View { return tools.New(ctx, p.env) }},
		{Icon: "skill", Title: "Skills", New: func(ctx context.Context) host.View { return skills.New(ctx, p.env) }},
		{Icon: "channel", Title: "Channels", New: func(ctx context.Context) host.View { return channels.New(ctx, p.env) }},
		{Icon: "link", Title: "Connected apps", New: func(ctx context.Context) host.View { return apps.New(ctx, p.env, p.backend.ClientPrograms()) }},
		{Icon: "globe", Title: services.Title, New: func(ctx context.Context) host.View { return services.New(ctx, p.env) }},
		{Icon: "eye", Title: string(host.Exposure), New: func(ctx context.Context) host.View { return exposure.New(ctx, p.env) }},
	}
}

// links are the links at the bottom of the sidebar.
func (p *pages) links() (list []sidebar.Link) {
	for _, e := range p.foot() {
		link := sidebar.Link{Icon: e.Icon, Title: e.Title}
		if e.Title == transfersTitle {
			link.Note = func(v feed.View) string {
				if n := len(v.Transfers.List); n > 0 {
					return fmt.Sprint(n)
				}
				return ""
			}
		}
		list = append(list, link)
	}
	return append(list, sidebar.Link{Icon: "settings", Title: settingsTitle})
}

// machines creates the page of machines. The sidebar shows which one is open.
func (p *pages) machines(ctx context.Context) host.View {
	return nodes.New(ctx, p.env, p.backend.Forwards, func(id protocol.NodeID) {
		p.window().Pages.MoveTo(host.Machine(id))
		p.window().DrawSidebar()
	})
}

// terminal creates the page of a machine's terminals.
func (p *pages) terminal(ctx context.Context) host.View {
	return terminal.New(ctx, p.env, func(ctx context.Context, params protocol.TerminalConnectParams) (terminal.Conn, protocol.Terminal, error) {
		return p.backend.OpenTerminal(ctx, params)
	})
}

// settings creates the page of the settings. The window shows the way back from a page to the list
// in whose place it stands.
func (p *pages) settings(ctx context.Context) host.View {
	o := settings.Options{About: p.about, Pages: p.ofSettings(), TestNotification: p.notes.ShowTest, Moved: func(inPlaceOfList bool) {
		p.window().Pages.MoveTo(nil)
		p.window().Pages.ShowWayBack(inPlaceOfList)
	}}
	if !p.backend.IsRemote() {
		o.Local, o.Gateways, o.Pairing = p.backend.Local(), p.backend.Gateways, p.pairing
	}
	return settings.New(ctx, p.env, o)
}

// showNews shows what is new, once after an update.
func (p *pages) showNews() {
	before := p.backend.Prefs.Get().Version
	p.backend.Prefs.Update(func(r *preferences.Preferences) { r.Version = p.about.Version })
	if before != "" && before != p.about.Version && p.about.Changes != "" {
		p.env.Open(host.News{})
	}
}
