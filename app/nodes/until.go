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

const changeEnd = "Access until…"

// until is the button that sets the expiry of a pairing. Expiring it now asks for a confirmation. A
// revoked pairing has no expiry to set.
func (p *Page) until(a *acts, d protocol.Device) []fyne.CanvasObject {
	switch {
	case d.RevokedAt > 0:
		return nil
	case a.sure == changeEnd:
		return a.really("clock", "End access now", "Keep end date", func() { p.setEnd(a, d.ID, p.now().UnixMilli()) })
	}
	b := widgets.NewButton(changeEnd, "clock", nil)
	b.TrailingIcon = "down"
	b.OnTap = func() { widgets.ShowMenu(b, p.endMenu(a, d.ID)) }
	return []fyne.CanvasObject{b}
}

// endMenu offers the possible expiries. This window's own pairing cannot expire now, because the
// window could not undo that; it can be revoked instead.
func (p *Page) endMenu(a *acts, id protocol.DeviceID) []*fyne.MenuItem {
	items := endItems(func(e state.PairingEnd) { p.setEnd(a, id, e.At(p.now())) })
	if d, _ := p.pairing.Device(id); id != p.view.Device && !state.PairingEnded(d, p.now()) {
		items = append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Now", func() { a.ask(changeEnd) }))
	}
	return items
}

// endItems are the possible expiries.
func endItems(choose func(state.PairingEnd)) (items []*fyne.MenuItem) {
	for _, e := range state.PairingEnds {
		items = append(items, fyne.NewMenuItem(e.Words, func() { choose(e) }))
	}
	return items
}

// setEnd sets a pairing's expiry in Unix milliseconds, 0 for never, and offers to undo that.
func (p *Page) setEnd(a *acts, id protocol.DeviceID, until int64) {
	d, ok := p.pairing.Device(id)
	if !ok {
		return
	}
	bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.app.Pairings.SetExpiry(ctx, d, until) }, func(undo func(), err error) {
		a.sure = ""
		if err != nil {
			p.h.Say("The end date was not changed: " + err.Error())
		} else {
			p.h.Undo(state.PairingUntil(p.view, d, until, p.now()), undo, time.Now().Add(state.UndoTime))
		}
		p.show(p.view) // the person may have left the page
	})
}
