package app

import (
	"context"
	"time"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/messages"
	"fairlead/app/notifications"
	"fairlead/app/style"
	"fairlead/app/window"
	"fairlead/gateway/protocol"
)

// part is something that shows some facts of the gateway, and is drawn again when one of them
// changes.
type part struct {
	show  func(feed.View)
	facts []feed.Fact
}

// parts are the parts of the windows that exist as long as the program runs. Pages watch what they
// show themselves.
type parts struct {
	ctx       context.Context
	feed      *feed.Feed
	machines  *style.Machines
	window    *window.Window
	questions *questions
	notes     *notifications.Notifications
	status    *messages.Status
	settings  *uiSettings

	watching bool
	followed feed.View // what followGateway has shown
}

func (p *parts) all() []part {
	f := p.feed
	return []part{
		{p.followGateway, []feed.Fact{f.Status, f.Changed, f.Sessions}},
		{p.showMachines, []feed.Fact{f.Machines, f.Servers}},
		{func(feed.View) { p.window.UpdateSidebar() }, []feed.Fact{f.Status, f.Sessions, f.Runs, f.Questions, f.Machines, f.Transfers}},
		{p.window.Chats.Draw, []feed.Fact{f.Status, f.Sessions, f.Runs, f.Texts, f.Calls, f.Questions, f.Machines, f.Models}},
		{p.questions.update, []feed.Fact{f.Questions, f.Status}},
		{func(v feed.View) { p.notes.Update(v, time.Now()) }, []feed.Fact{f.Questions, f.Machines}},
		{p.notes.UpdateTransfers, []feed.Fact{f.Transfers, f.Machines}},
		{p.notes.UpdateRuns, []feed.Fact{f.Runs, f.Sessions}},
		{p.showNotice, []feed.Fact{f.Notice}},
	}
}

// watch draws the parts when their facts change.
func (p *parts) watch() {
	p.watching = true
	for _, x := range p.all() {
		bind.Watch(p.ctx, p.feed.Watch(x.facts...), func(v feed.View) {
			p.nameMachines(v) // whichever part is drawn first
			x.show(v)
		})
	}
}

// followGateway shows the state of the gateway and of the connection, and loads what depends on them.
func (p *parts) followGateway(v feed.View) {
	w, last := p.window, p.followed
	p.followed = v
	if v.Status.Loaded && !last.Status.Loaded {
		w.SearchModels()
	}
	isUp := func(s feed.Status) bool { return s.Loaded && s.Connected }
	if p.watching && (v.Changed.Config != last.Changed.Config || isUp(v.Status) && !isUp(last.Status)) {
		p.settings.load()
	}
	if v.IsMainAlias(w.Chat.Page.Key()) {
		w.SwitchTo(w.MainChat())
	}
	if m := v.Status.Model.Provider; m != "" && m != feed.Operator {
		w.EndFirstRun() // the person has connected a model
	}
	p.status.Update(v)
}

// showNotice shows the gateway's latest notice, unless the chat that is open says it.
func (p *parts) showNotice(v feed.View) {
	n, isNew := p.status.NewNotice(v)
	if !isNew {
		return
	}
	p.notes.AnnounceSchedule(n)
	if n.SessionKey == "" || !p.window.ShowsChat(n.SessionKey) {
		p.status.ShowNotice(n)
	}
}

// nameMachines gives the machines and servers their names and colours.
func (p *parts) nameMachines(v feed.View) {
	for _, n := range v.Machines {
		p.machines.SetColor(string(n.ID), n.Colour)
		p.machines.SetName(string(n.ID), n.Name)
	}
	p.machines.SetServers(lists.Map(v.Servers.Servers, func(s protocol.ServerStatus) string { return string(s.Name) }))
}

// showMachines shows the colour of the computer that the windows control.
func (p *parts) showMachines(v feed.View) {
	p.nameMachines(v)
	p.window.Chats.ColorBars()
}
