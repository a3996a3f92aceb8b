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

// parts returns the parts of the windows that exist as long as the program runs. Pages watch what
// they show themselves.
func (u *ui) parts() []part {
	f := u.backend.state.Feed
	return []part{
		{u.followGateway, []feed.Fact{f.Status, f.Changed, f.Sessions}},
		{u.showMachines, []feed.Fact{f.Machines, f.Servers}},
		{func(feed.View) { u.main.updateSidebar() }, []feed.Fact{f.Status, f.Sessions, f.Runs, f.Questions, f.Machines, f.Transfers, f.AccessRequests}},
		{u.chats.draw, []feed.Fact{f.Status, f.Sessions, f.Runs, f.Texts, f.Calls, f.Questions, f.Machines, f.Models}},
		{u.approvals.update, []feed.Fact{f.Questions}},
		{u.connect.update, []feed.Fact{f.Questions}},
		{func(v feed.View) { u.notes.update(v, time.Now()) }, []feed.Fact{f.Questions, f.Machines}},
		{u.notes.updateTransfers, []feed.Fact{f.Transfers, f.Machines}},
		{u.notes.updateRuns, []feed.Fact{f.Runs, f.Sessions}},
		{u.approvals.updateInbox, []feed.Fact{f.Questions, f.Machines, f.Sessions, f.Calls}},
		{u.messages.showNotice, []feed.Fact{f.Notice}},
	}
}

// watch draws the parts when their facts change.
func (u *ui) watch() {
	for _, p := range u.parts() {
		bind.Watch(u.ctx, u.backend.state.Watch(p.facts...), func(v feed.View) {
			u.nameMachines(v) // whichever part is drawn first
			p.show(v)
		})
	}
}

// view returns what is known about the gateway.
func (u *ui) view() feed.View { return u.backend.state.View() }

// followGateway shows the state of the gateway and of the connection, and loads what depends on them.
func (u *ui) followGateway(v feed.View) {
	last := u.followed
	u.followed = v
	if v.Status.Loaded && !last.Status.Loaded && u.main.firstRun {
		u.main.first.search()
	}
	isUp := func(s feed.Status) bool { return s.Loaded && s.Connected }
	if u.running && (v.Changed.Config != last.Changed.Config || isUp(v.Status) && !isUp(last.Status)) {
		u.loadUI()
	}
	if v.IsMainAlias(u.main.conversation.key) {
		u.main.switchTo(u.main.mainChat())
	}
	if p := v.Status.Model.Provider; p != "" && p != feed.Operator {
		u.main.endFirstRun() // the person has connected a model
	}
	u.messages.showProblem(v)
	u.messages.showMissingSecrets(v)
}

// nameMachines gives the machines and servers their names and colours.
func (u *ui) nameMachines(v feed.View) {
	for _, n := range v.Machines {
		u.machines.SetColor(string(n.ID), n.Colour)
		u.machines.SetName(string(n.ID), n.Name)
	}
	u.machines.SetServers(lists.Map(v.Servers.Servers, func(s protocol.ServerStatus) string { return string(s.Name) }))
}

// showMachines shows the colour of the computer that the main window controls.
func (u *ui) showMachines(v feed.View) {
	u.nameMachines(v)
	if local, ok := v.Machines.Local(); ok && u.main.bar != nil {
		u.main.bar.Set(u.machines.Color(string(local.ID)), "")
	}
}
