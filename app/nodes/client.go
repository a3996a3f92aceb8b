package nodes

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func (p *Page) clientItem(d protocol.Device) widgets.ListItem {
	now := p.now()
	item := widgets.ListItem{Icon: "window", Color: style.ColorText, Title: d.Name, Text: state.ClientLine(d, now), Detail: state.ClientPresence(p.view, d, now)}
	if !d.Online {
		item.Color, item.Muted = style.ColorMuted, true
	}
	return item
}

// client is the page of one window or command line. It is drawn like [detail].
type client struct {
	p     *Page
	id    protocol.DeviceID
	bar   widgets.Actions
	facts widgets.Body
}

func newClient(p *Page, id protocol.DeviceID) *client {
	c := &client{p: p, id: id, facts: widgets.NewBody()}
	c.bar = widgets.NewActions(c.show)
	return c
}

// show redraws changed parts; if the window was forgotten, it shows the list.
func (c *client) show() {
	p := c.p
	d, ok := p.pairing.Client(c.id)
	if !ok {
		p.Open("")
		return
	}
	drawn := p.Draw(fmt.Sprint("window ", c.id, d.Name), func() fyne.CanvasObject {
		form := widgets.NewForm(widgets.Inset(style.Gap, 0, 0, 0, c.bar.Box), c.facts.Box)
		return widgets.NewPage(d.Name, form, widgets.NewQuietButton("All machines", "back", func() { p.Open("") }))
	})
	drawn = c.bar.DrawActions(fmt.Sprint(state.HasExpired(d, p.now()), d.RevokedAt > 0), func() fyne.CanvasObject { return c.actions(d) }) || drawn
	facts := state.ClientFacts(p.pairing, p.view, d, p.now())
	if c.facts.Draw(fmt.Sprint(facts), func() fyne.CanvasObject { return widgets.NewFacts(facts) }) || drawn {
		p.Box.Refresh()
	}
}

// An active pairing can be revoked, an inactive one can be forgotten.
func (c *client) actions(d protocol.Device) fyne.CanvasObject {
	p := c.p
	if c.bar.Editing {
		return c.bar.NameEditor(d.Name, d.Hostname, func(name string) { p.app.Pairings.RenameClient(d, name) })
	}
	end := func(end func(context.Context, protocol.DeviceID) error, failed string) func() {
		return func() {
			p.end(&c.bar, failed, func(ctx context.Context) error { return end(ctx, c.id) })
		}
	}
	ask, do := widgets.Confirmation{Text: "Revoke access", Icon: "trash", Question: "Revoke access for “" + d.Name + "”?", Yes: "Revoke", No: "Cancel"}, end(p.app.Pairings.RevokeClient, "Access was not revoked")
	switch {
	case state.HasExpired(d, p.now()):
		ask, do = widgets.Confirmation{Text: "Remove", Icon: "trash", Question: "Remove “" + d.Name + "” from the list?", Yes: "Remove", No: "Cancel"}, end(p.app.Pairings.ForgetClient, "The device was not removed")
	case d.ID == p.view.Status.Device:
		ask.Question = "Revoke access for this device?"
	}
	buttons := []fyne.CanvasObject{widgets.NewButton("Rename", "edit", c.bar.Rename)}
	buttons = append(buttons, p.expiryButton(&c.bar, d)...)
	return widgets.Flow(style.Inside, append(buttons, c.bar.ConfirmButton(ask, do))...)
}

// end carries out a confirmed action.
func (p *Page) end(a *widgets.Actions, failed string, do func(context.Context) error) {
	bind.Run(p.ctx, do, func(err error) {
		a.Confirming = ""
		p.h.Say.Failed(failed, err)
		p.show(p.view) // the person may have left the page
	})
}

const changeExpiry = "Limit access…"

// expiryButton sets the expiry of a pairing that is not revoked.
func (p *Page) expiryButton(a *widgets.Actions, d protocol.Device) []fyne.CanvasObject {
	if d.RevokedAt > 0 {
		return nil
	}
	return []fyne.CanvasObject{widgets.NewMenuButton(changeExpiry, "clock", func() []*fyne.MenuItem {
		return expiryItems(func(e state.AccessPeriod) { p.setExpiry(a, d.ID, e.Expiry(p.now())) })
	})}
}

func expiryItems(choose func(state.AccessPeriod)) []*fyne.MenuItem {
	return lists.Map(state.AccessPeriods, func(e state.AccessPeriod) *fyne.MenuItem {
		return fyne.NewMenuItem(e.Text, func() { choose(e) })
	})
}

// setExpiry sets a pairing's expiry in Unix milliseconds, 0 for never, and offers to undo that.
func (p *Page) setExpiry(a *widgets.Actions, id protocol.DeviceID, until int64) {
	d, ok := p.pairing.Device(id)
	if !ok {
		return
	}
	bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.app.Pairings.SetExpiry(ctx, d, until) }, func(undo func(), err error) {
		a.Confirming = ""
		if !p.h.Say.Failed("The end date was not changed", err) {
			p.h.Undo(state.AccessText(p.view, d, until, p.now()), undo, time.Now().Add(feed.UndoTime))
		}
		p.show(p.view) // the person may have left the page
	})
}
