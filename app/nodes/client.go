package nodes

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/display"
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
	bar   actions
	facts widgets.Body
}

func newClient(p *Page, id protocol.DeviceID) *client {
	c := &client{p: p, id: id, facts: widgets.NewBody()}
	c.bar = newActions(c.show)
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
	drawn = c.bar.draw(fmt.Sprint(state.HasExpired(d, p.now()), d.RevokedAt > 0), func() fyne.CanvasObject { return c.actions(d) }) || drawn
	facts := p.pairing.ClientFacts(p.view, d, p.now())
	if c.facts.Draw(fmt.Sprint(facts), func() fyne.CanvasObject { return factList(facts) }) || drawn {
		p.Box.Refresh()
	}
}

// An active pairing can be revoked, an inactive one can be forgotten.
func (c *client) actions(d protocol.Device) fyne.CanvasObject {
	p := c.p
	if c.bar.editing {
		return c.bar.nameEditor(d.Name, d.Hostname, func(name string) { p.app.Pairings.RenameClient(d, name) })
	}
	end := func(end func(context.Context, protocol.DeviceID) error, failed string) func() {
		return func() {
			p.end(&c.bar, failed, func(ctx context.Context) error { return end(ctx, c.id) })
		}
	}
	ask, do := confirmation{"Revoke access", "trash", "Revoke access for “" + d.Name + "”?", "Revoke", "Cancel"}, end(p.app.Pairings.RevokeClient, "Access was not revoked")
	switch {
	case state.HasExpired(d, p.now()):
		ask, do = confirmation{"Remove", "trash", "Remove “" + d.Name + "” from the list?", "Remove", "Cancel"}, end(p.app.Pairings.ForgetClient, "The controller was not removed")
	case d.ID == p.view.Device:
		ask.question = "Revoke access for this device?"
	}
	buttons := []fyne.CanvasObject{widgets.NewButton("Rename", "edit", c.bar.rename)}
	buttons = append(buttons, p.expiryButton(&c.bar, d)...)
	return widgets.Flow(style.Inside, append(buttons, c.bar.confirmButton(ask, do)...)...)
}

// end carries out a confirmed action.
func (p *Page) end(a *actions, failed string, do func(context.Context) error) {
	bind.Run(p.ctx, do, func(err error) {
		a.confirming = ""
		p.h.Say.Failed(failed, err)
		p.show(p.view) // the person may have left the page
	})
}

const changeExpiry = "Access until…"

// expiryButton sets the expiry of a pairing that is not revoked. Now requires a confirmation.
func (p *Page) expiryButton(a *actions, d protocol.Device) []fyne.CanvasObject {
	switch {
	case d.RevokedAt > 0:
		return nil
	case a.confirming == changeExpiry:
		ask := confirmation{changeExpiry, "clock", "End access for “" + d.Name + "” now?", "End access now", "Keep end date"}
		return a.confirmButtons(ask, func() { p.setExpiry(a, d.ID, p.now().UnixMilli()) })
	}
	return []fyne.CanvasObject{widgets.NewMenuButton(changeExpiry, "clock", func() []*fyne.MenuItem { return p.expiryMenu(a, d.ID) })}
}

// expiryMenu offers the possible expiries. This window's own pairing cannot expire now, because the
// window could not undo that; it can be revoked instead.
func (p *Page) expiryMenu(a *actions, id protocol.DeviceID) []*fyne.MenuItem {
	items := expiryItems(func(e state.AccessPeriod) { p.setExpiry(a, id, e.Expiry(p.now())) })
	if d, _ := p.pairing.Device(id); id != p.view.Device && !state.HasExpired(d, p.now()) {
		items = append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Now", func() { a.confirm(changeExpiry) }))
	}
	return items
}

func expiryItems(choose func(state.AccessPeriod)) []*fyne.MenuItem {
	return state.Map(state.AccessPeriods, func(e state.AccessPeriod) *fyne.MenuItem {
		return fyne.NewMenuItem(e.Text, func() { choose(e) })
	})
}

// setExpiry sets a pairing's expiry in Unix milliseconds, 0 for never, and offers to undo that.
func (p *Page) setExpiry(a *actions, id protocol.DeviceID, until int64) {
	d, ok := p.pairing.Device(id)
	if !ok {
		return
	}
	bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.app.Pairings.SetExpiry(ctx, d, until) }, func(undo func(), err error) {
		a.confirming = ""
		if !p.h.Say.Failed("The end date was not changed", err) {
			p.h.Undo(state.AccessText(p.view, d, until, p.now()), undo, time.Now().Add(state.UndoTime))
		}
		p.show(p.view) // the person may have left the page
	})
}

func factList(facts []state.MachineFact) fyne.CanvasObject {
	return widgets.Col(style.Gap, state.Map(facts, func(f state.MachineFact) fyne.CanvasObject {
		return widgets.NewLabelled(128, f.Name, widgets.NewParagraph(f.Text, style.ColorText, "text"))
	})...)
}

// actions is the line of actions for a machine or a window. The page's show redraws it.
type actions struct {
	widgets.Body
	show       func()
	confirming string // action that waits for a confirmation; empty for none
	editing    bool   // the name is being edited
	field      *widgets.NameField
}

func newActions(show func()) actions { return actions{Body: widgets.NewBody(), show: show} }

// draw redraws the line after a change of the facts that it depends on, or of its own state.
func (a *actions) draw(facts string, build func() fyne.CanvasObject) bool {
	if a.editing {
		return a.Draw("edit", build) // do not redraw while the person is using it
	}
	return a.Draw(facts+a.confirming, build)
}

// nameEditor is the line while the name is edited.
func (a *actions) nameEditor(name, placeholder string, save func(string)) fyne.CanvasObject {
	a.field = widgets.NewNameField()
	a.field.SetText(name)
	a.field.SetPlaceHolder(placeholder)
	end := func(keep bool) {
		a.editing = false
		if keep {
			save(a.field.Text)
		}
		a.show()
	}
	a.field.OnSubmitted = func(string) { end(true) }
	a.field.OnCancel = func() { end(false) }
	// The same height as the buttons before, so that nothing below moves.
	field := container.NewGridWrap(fyne.NewSize(240, a.field.MinSize().Height), a.field)
	return widgets.Row(style.Inside, -1, widgets.Inset(-4, 0, -3, 0, field),
		widgets.NewButton("Save", "check", func() { end(true) }), widgets.NewQuietButton("Cancel", "", func() { end(false) }))
}

// confirmation is the text and icon of a button, and the question that it asks, with the texts of
// the buttons that answer it.
type confirmation struct{ text, icon, question, yes, no string }

// confirmButton is a button that asks for a confirmation.
func (a *actions) confirmButton(c confirmation, do func()) []fyne.CanvasObject {
	if a.confirming != c.text {
		return []fyne.CanvasObject{widgets.NewQuietButton(c.text, c.icon, func() { a.confirm(c.text) })}
	}
	return a.confirmButtons(c, do)
}

// confirm asks to confirm an action; an empty name cancels.
func (a *actions) confirm(button string) {
	a.confirming = button
	a.show()
}

func (a *actions) confirmButtons(c confirmation, do func()) []fyne.CanvasObject {
	yes := widgets.NewQuietButton(c.yes, c.icon, do)
	yes.Danger = true
	question := widgets.NewText(display.Clip(c.question, 60), style.ColorText, "text")
	no := widgets.NewQuietButton(c.no, "", func() { a.confirm("") })
	return []fyne.CanvasObject{question, widgets.Row(style.Inside, -1, yes, no)}
}

func (a *actions) rename() {
	a.editing = true
	a.show()
	if c := fyne.CurrentApp().Driver().CanvasForObject(a.Box); c != nil && a.field != nil {
		c.Focus(a.field)
		a.field.TypedShortcut(&fyne.ShortcutSelectAll{})
	}
}
