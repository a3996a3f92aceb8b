package app

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"

	"fairlead/app/activity"
	"fairlead/app/apps"
	"fairlead/app/audit"
	"fairlead/app/channels"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/nodes"
	"fairlead/app/rules"
	"fairlead/app/schedule"
	"fairlead/app/settings"
	"fairlead/app/sidebar"
	"fairlead/app/skills"
	"fairlead/app/tools"
	"fairlead/app/transfers"
	"fairlead/gateway/protocol"
)

// fixedPages are the pages with a fixed place.
type fixedPages struct {
	ui  *ui
	nav *navigator
}

// foot are the pages listed at the bottom of the sidebar, in this order.
func (n fixedPages) foot() []page {
	return []page{{"folder", filesTitle, n.nav.openFiles}, n.transfers(), n.schedule(), n.activity()}
}

// links are the links at the bottom of the sidebar.
func (u *ui) links() (list []sidebar.Link) {
	for _, p := range (fixedPages{u, u.nav}).foot() {
		link := sidebar.Link{Icon: p.icon, Title: p.title}
		if p.title == transfersTitle {
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

// all are all pages with a fixed place of their own. Those that are not at the bottom of the sidebar
// open from its headings or from other pages.
func (n fixedPages) all() []page {
	return append(n.foot(), n.ui.questions.page(), n.machines(), n.auditLog())
}

// settings are the pages of other packages that the settings show, in this order.
func (n fixedPages) settings() []settings.Entry {
	return []settings.Entry{n.rules(), n.tools(), n.skills(), n.channels(), n.apps()}
}

func (n fixedPages) machines() page {
	return page{"machine", machinesTitle, func(ctx context.Context, at host.Target) (fyne.CanvasObject, func() bool) {
		p := nodes.New(ctx, n.ui.env(), func(id protocol.NodeID) {
			n.nav.at = host.Machine(id)
			n.ui.main.drawSidebar()
		})
		id, _ := at.(host.Machine)
		p.Open(protocol.NodeID(id))
		if _, isNew := at.(host.NewMachine); isNew {
			p.Invite()
		}
		n.nav.dropTarget = p.At
		return p.Box, p.Back
	}}
}

func (n fixedPages) transfers() page {
	return page{"transfer", transfersTitle, func(ctx context.Context, _ host.Target) (fyne.CanvasObject, func() bool) {
		p := transfers.New(ctx, n.ui.env())
		return p.Box, p.Back
	}}
}

func (n fixedPages) schedule() page {
	return page{"calendar", "Schedule", func(ctx context.Context, at host.Target) (fyne.CanvasObject, func() bool) {
		p := schedule.New(ctx, n.ui.env())
		create(at, p.Create)
		return p.Box, p.Back
	}}
}

func (n fixedPages) activity() page {
	return page{"activity", activityTitle, func(ctx context.Context, _ host.Target) (fyne.CanvasObject, func() bool) {
		p := activity.New(ctx, n.ui.env())
		return p.Box, nil
	}}
}

func (n fixedPages) auditLog() page {
	return page{"list", "Audit log", func(ctx context.Context, _ host.Target) (fyne.CanvasObject, func() bool) {
		p := audit.New(ctx, n.ui.env())
		return p.Box, p.Back
	}}
}

func (n fixedPages) rules() settings.Entry {
	return settings.Entry{Icon: "shield", Title: "Approvals and rules", Open: func(ctx context.Context) (fyne.CanvasObject, func() bool) {
		p := rules.New(ctx, n.ui.env())
		create(n.ui.settings.at, p.Create)
		return p.Box, p.Back
	}}
}

func (n fixedPages) skills() settings.Entry {
	return settings.Entry{Icon: "skill", Title: "Skills", Open: func(ctx context.Context) (fyne.CanvasObject, func() bool) {
		p := skills.New(ctx, n.ui.env())
		create(n.ui.settings.at, p.Create)
		return p.Box, p.Back
	}}
}

func (n fixedPages) channels() settings.Entry {
	return settings.Entry{Icon: "channel", Title: "Channels", Open: func(ctx context.Context) (fyne.CanvasObject, func() bool) {
		p := channels.New(ctx, n.ui.env())
		return p.Box, p.Back
	}}
}

func (n fixedPages) apps() settings.Entry {
	return settings.Entry{Icon: "link", Title: "Connected apps", Open: func(ctx context.Context) (fyne.CanvasObject, func() bool) {
		p := apps.New(ctx, n.ui.env(), n.ui.backend.ClientPrograms())
		return p.Box, p.Back
	}}
}

func (n fixedPages) tools() settings.Entry {
	return settings.Entry{Icon: "plug", Title: "Tools", Open: func(ctx context.Context) (fyne.CanvasObject, func() bool) {
		p := tools.New(ctx, n.ui.env())
		create(n.ui.settings.at, func() { p.Create() })
		return p.Box, p.Back
	}}
}

// create shows the form of something new on a page that is opened for that.
func create(at host.Target, form func()) {
	if _, isNew := at.(host.New); isNew {
		form()
	}
}
