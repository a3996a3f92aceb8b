package chat

import (
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
)

// modeMenu offers the ways of asking.
func (h *header) modeMenu() []*fyne.MenuItem {
	now := state.ModeOf(h.p.state.Session, time.Now())
	var items []*fyne.MenuItem
	for _, c := range state.ModeChoices {
		item := fyne.NewMenuItem(c.Words, func() { h.p.h.SetMode(c) })
		item.Checked = c.Mode == now.Mode && c.For == 0
		items = append(items, item)
	}
	return items
}

// showMode says how the chat asks now.
func (h *header) showMode(s State) {
	h.mode.SetText(state.ModeWord(state.ModeOf(s.Session, time.Now())))
	setVisible(h.mode, h.p.h.SetMode != nil && !h.narrow)
}
