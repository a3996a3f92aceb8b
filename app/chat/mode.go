package chat

import (
	"fyne.io/fyne/v2"

	"fairlead/app/state"
)

// modeMenu offers the approval modes.
func (h *header) modeMenu() []*fyne.MenuItem {
	now := state.ModeOf(h.p.state.Session, h.p.now)
	var items []*fyne.MenuItem
	for _, c := range state.ModeChoices {
		item := fyne.NewMenuItem(c.Words, func() { h.p.h.SetMode(c) })
		item.Checked = c.Mode == now.Mode && c.For == 0
		items = append(items, item)
	}
	return items
}

func (h *header) modeWord(s State) string { return state.ModeWord(state.ModeOf(s.Session, h.p.now)) }

// showMode shows the chat's approval mode.
func (h *header) showMode(s State) {
	h.mode.SetText(h.modeWord(s))
	setVisible(h.mode, h.p.h.SetMode != nil && !h.narrow)
}
