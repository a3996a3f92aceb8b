package nodes

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func (p *Page) clientItem(d protocol.Device) widgets.ListItem {
	now := p.now()
	item := widgets.ListItem{Icon: "window", Color: style.ColorText, Title: d.Name, Text: clientLine(d, now), Detail: clientPresence(p.view, d, now)}
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
		p.ShowList()
		return
	}
	drawn := p.Draw(fmt.Sprint("window ", c.id, d.Name), func() fyne.CanvasObject {
		form := widgets.NewForm(widgets.Inset(style.Gap, 0, 0, 0, c.bar.Box), c.facts.Box)
		return widgets.NewPage(d.Name, form, widgets.NewQuietButton("All machines", "back", p.Leave))
	})
	drawn = c.bar.DrawActions(fmt.Sprint(hasExpired(d, p.now()), d.RevokedAt > 0), func() fyne.CanvasObject { return c.actions(d) }) || drawn
	facts := clientFacts(p.pairing, p.view, d, p.now())
	if c.facts.Draw(fmt.Sprint(facts), func() fyne.CanvasObject { return widgets.NewFacts(facts) }) || drawn {
		p.Box.Refresh()
	}
}

// An active pairing can be revoked, an inactive one can be forgotten.
func (c *client) actions(d protocol.Device) fyne.CanvasObject {
	p := c.p
	if c.bar.Editing {
		return c.bar.NameEditor(d.Name, d.Hostname, func(name string) { p.m.RenameClient(d, name) })
	}
	end := func(end func(context.Context, protocol.DeviceID) error, failed string) func() {
		return func() {
			c.bar.Confirm("")
			p.e.Run(p.ctx, failed, func(ctx context.Context) error { return end(ctx, c.id) }, p.Update) // the person may have left the page
		}
	}
	ask, do := widgets.Confirmation{Text: "Revoke access", Icon: "trash", Question: "Revoke access for “" + d.Name + "”?", Yes: "Revoke", No: "Cancel"}, end(p.m.RevokeClient, "Access was not revoked")
	switch {
	case hasExpired(d, p.now()):
		ask, do = widgets.Confirmation{Text: "Remove", Icon: "trash", Question: "Remove “" + d.Name + "” from the list?", Yes: "Remove", No: "Cancel"}, end(p.m.ForgetClient, "The device was not removed")
	case d.ID == p.view.Status.Device:
		ask.Question = "Revoke access for this device?"
	}
	buttons := []fyne.CanvasObject{widgets.NewButton("Rename", "edit", c.bar.Rename)}
	buttons = append(buttons, expiry{p, &c.bar}.button(d)...)
	return widgets.Flow(style.Inside, append(buttons, c.bar.ConfirmButton(ask, do))...)
}

const changeExpiry = "Limit access…"

// expiry is the end of a pairing, which the person may change on the page of its device.
type expiry struct {
	p   *Page
	bar *widgets.Actions // of the page of the device
}

// button changes the end of a pairing that is not revoked.
func (x expiry) button(d protocol.Device) []fyne.CanvasObject {
	if d.RevokedAt > 0 {
		return nil
	}
	return []fyne.CanvasObject{widgets.NewMenuButton(changeExpiry, "clock", func() []*fyne.MenuItem {
		return expiryItems(func(e accessPeriod) { x.set(d.ID, e.expiry(x.p.now())) })
	})}
}

func expiryItems(choose func(accessPeriod)) []*fyne.MenuItem {
	return lists.Map(accessPeriods, func(e accessPeriod) *fyne.MenuItem {
		return fyne.NewMenuItem(e.Text, func() { choose(e) })
	})
}

// set sets the end of a pairing in Unix milliseconds, 0 for never, and offers to undo that.
func (x expiry) set(id protocol.DeviceID, until int64) {
	p := x.p
	d, ok := p.pairing.Device(id)
	if !ok {
		return
	}
	x.bar.Confirming = ""
	var undo func()
	p.e.Run(p.ctx, "The end date was not changed", func(ctx context.Context) (err error) {
		undo, err = p.m.SetExpiry(ctx, d, until)
		return err
	}, func() {
		p.e.Undo(accessText(p.view, d, until, p.now()), undo, time.Now().Add(feed.UndoTime))
		p.Update() // the person may have left the page
	})
}
