package app

import (
	"time"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
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
	ui       *ui
	followed feed.View // what followGateway has shown
}

func (p *parts) all() []part {
	u := p.ui
	f := u.backend.Feed
	return []part{
		{p.followGateway, []feed.Fact{f.Status, f.Changed, f.Sessions}},
		{p.showMachines, []feed.Fact{f.Machines, f.Servers}},
		{func(feed.View) { u.main.updateSidebar() }, []feed.Fact{f.Status, f.Sessions, f.Runs, f.Questions, f.Machines, f.Transfers}},
		{u.chats.Draw, []feed.Fact{f.Status, f.Sessions, f.Runs, f.Texts, f.Calls, f.Questions, f.Machines, f.Models}},
		{u.questions.update, []feed.Fact{f.Questions, f.Status}},
		{func(v feed.View) { u.notes.Update(v, time.Now()) }, []feed.Fact{f.Questions, f.Machines}},
		{u.notes.UpdateTransfers, []feed.Fact{f.Transfers, f.Machines}},
		{u.notes.UpdateRuns, []feed.Fact{f.Runs, f.Sessions}},
		{p.showNotice, []feed.Fact{f.Notice}},
	}
}

// watch draws the parts when their facts change.
func (p *parts) watch() {
	for _, x := range p.all() {
		bind.Watch(p.ui.ctx, p.ui.backend.Feed.Watch(x.facts...), func(v feed.View) {
			p.nameMachines(v) // whichever part is drawn first
			x.show(v)
		})
	}
}

// followGateway shows the state of the gateway and of the connection, and loads what depends on them.
func (p *parts) followGateway(v feed.View) {
	u, last := p.ui, p.followed
	p.followed = v
	if v.Status.Loaded && !last.Status.Loaded && u.main.firstRun {
		u.main.first.Search()
	}
	isUp := func(s feed.Status) bool { return s.Loaded && s.Connected }
	if u.running && (v.Changed.Config != last.Changed.Config || isUp(v.Status) && !isUp(last.Status)) {
		u.loadUI()
	}
	if v.IsMainAlias(u.main.conversation.Page.Key()) {
		u.main.switchTo(u.main.mainChat())
	}
	if m := v.Status.Model.Provider; m != "" && m != feed.Operator {
		u.main.endFirstRun() // the person has connected a model
	}
	u.status.Update(v)
}

// showNotice shows the gateway's latest notice, unless the chat that is open says it.
func (p *parts) showNotice(v feed.View) {
	n, isNew := p.ui.status.NewNotice(v)
	if !isNew {
		return
	}
	p.ui.notes.AnnounceSchedule(n)
	if n.SessionKey == "" || !p.ui.main.showsChat(n.SessionKey) {
		p.ui.status.ShowNotice(n)
	}
}

// nameMachines gives the machines and servers their names and colours.
func (p *parts) nameMachines(v feed.View) {
	u := p.ui
	for _, n := range v.Machines {
		u.machines.SetColor(string(n.ID), n.Colour)
		u.machines.SetName(string(n.ID), n.Name)
	}
	u.machines.SetServers(lists.Map(v.Servers.Servers, func(s protocol.ServerStatus) string { return string(s.Name) }))
}

// showMachines shows the colour of the computer that the windows control.
func (p *parts) showMachines(v feed.View) {
	u := p.ui
	p.nameMachines(v)
	local, ok := v.Machines.Local()
	if !ok || u.main.bar == nil {
		return
	}
	color := u.machines.Color(string(local.ID))
	u.main.bar.Set(color, "")
	for _, c := range u.chats.Own {
		if c.Bar != nil {
			c.Bar.Set(color, "")
		}
	}
}
