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

const changeEnd = "Change the end"

// until is the button that sets when the pairing of a device ends. That it ends now is asked once more. A pairing that was revoked has no end to set.
func (p *Page) until(a *acts, d protocol.Device) []fyne.CanvasObject {
	switch {
	case d.RevokedAt > 0:
		return nil
	case a.sure == changeEnd:
		return a.really("clock", "Really? Its time is over at once", "Leave the end", func() { p.setEnd(a, d.ID, p.now().UnixMilli()) })
	}
	b := widgets.NewButton(changeEnd, "clock", nil)
	b.Trail = "down"
	b.OnTap = func() { widgets.ShowMenu(b, p.endMenu(a, d.ID)) }
	return []fyne.CanvasObject{b}
}

// endMenu offers the ends that a pairing may have. This window's own does not end now: it could not take that back, and can be revoked instead.
func (p *Page) endMenu(a *acts, id protocol.DeviceID) []*fyne.MenuItem {
	items := endItems(func(e state.PairingEnd) { p.setEnd(a, id, e.At(p.now())) })
	if d, _ := p.pairing.Device(id); id != p.view.Device && !state.PairingEnded(d, p.now()) {
		items = append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Now", func() { a.ask(changeEnd) }))
	}
	return items
}

// endItems are the ends to choose from.
func endItems(choose func(state.PairingEnd)) (items []*fyne.MenuItem) {
	for _, e := range state.PairingEnds {
		items = append(items, fyne.NewMenuItem(e.Words, func() { choose(e) }))
	}
	return items
}

// setEnd has a pairing end at a time, in Unix milliseconds, 0 being never, and lets that be taken back.
func (p *Page) setEnd(a *acts, id protocol.DeviceID, until int64) {
	d, ok := p.pairing.Device(id)
	if !ok {
		return
	}
	bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.app.SetPairingEnd(ctx, d, until) }, func(undo func(), err error) {
		a.sure = ""
		if err != nil {
			p.h.Say("The end was not changed: " + err.Error())
		} else {
			p.h.Undo(state.PairingUntil(p.view, d, until, p.now()), undo, time.Now().Add(state.UndoTime))
		}
		p.show(p.view) // the person may be elsewhere by now
	})
}
