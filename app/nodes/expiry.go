package nodes

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

const changeExpiry = "Access until…"

// expiryButton is the button that sets the expiry of a pairing. Expiring it now asks for a
// confirmation. A revoked pairing has no expiry to set.
func (p *Page) expiryButton(a *actions, d protocol.Device) []fyne.CanvasObject {
	switch {
	case d.RevokedAt > 0:
		return nil
	case a.confirming == changeExpiry:
		return a.confirmButtons("clock", "End access now", "Keep end date", func() { p.setExpiry(a, d.ID, p.now().UnixMilli()) })
	}
	b := widgets.NewButton(changeExpiry, "clock", nil)
	b.TrailingIcon = "down"
	b.OnTap = func() { widgets.ShowMenu(b, p.expiryMenu(a, d.ID)) }
	return []fyne.CanvasObject{b}
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

// expiryItems are the possible expiries.
func expiryItems(choose func(state.AccessPeriod)) (items []*fyne.MenuItem) {
	for _, e := range state.AccessPeriods {
		items = append(items, fyne.NewMenuItem(e.Text, func() { choose(e) }))
	}
	return items
}

// setExpiry sets a pairing's expiry in Unix milliseconds, 0 for never, and offers to undo that.
func (p *Page) setExpiry(a *actions, id protocol.DeviceID, until int64) {
	d, ok := p.pairing.Device(id)
	if !ok {
		return
	}
	bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.app.Pairings.SetExpiry(ctx, d, until) }, func(undo func(), err error) {
		a.confirming = ""
		if err != nil {
			p.h.Say("The end date was not changed: " + err.Error())
		} else {
			p.h.Undo(state.AccessText(p.view, d, until, p.now()), undo, time.Now().Add(state.UndoTime))
		}
		p.show(p.view) // the person may have left the page
	})
}
