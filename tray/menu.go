package tray

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/systray"

	"fairlead/app/bind"
)

// menu is the menu that the panel has. It belongs to the GUI thread. The toolkit has one too, but that
// does not end a rest of the GUI thread, so that a click would be late.
type menu struct {
	ctx     context.Context //nolint:containedctx // clicks are followed until it ends
	entries []*entry
}

// entry is an entry of the menu.
type entry struct {
	shown *fyne.MenuItem
	item  *systray.MenuItem // nil for a separator
	under []*entry
}

// set shows items. An entry stays the same while only texts change: the person may have the menu open,
// and a click on an entry that was replaced meanwhile is lost.
func (m *menu) set(items []*fyne.MenuItem) {
	if fit(m.entries, items) {
		update(m.entries, items)
		return
	}
	systray.ResetMenu()
	m.entries = m.add(nil, items)
}

// fit reports whether entries can show items with other texts.
func fit(entries []*entry, items []*fyne.MenuItem) bool {
	if len(entries) != len(items) {
		return false
	}
	for i, e := range entries {
		if e.shown.IsSeparator != items[i].IsSeparator || e.shown.Checked != items[i].Checked || !fit(e.under, below(items[i])) {
			return false
		}
	}
	return true
}

func below(i *fyne.MenuItem) []*fyne.MenuItem {
	if i.ChildMenu == nil {
		return nil
	}
	return i.ChildMenu.Items
}

func update(entries []*entry, items []*fyne.MenuItem) {
	for i, e := range entries {
		before, now := e.shown, items[i]
		e.shown = now
		if before.Label != now.Label {
			e.item.SetTitle(now.Label)
		}
		switch {
		case before.Disabled && !now.Disabled:
			e.item.Enable()
		case !before.Disabled && now.Disabled:
			e.item.Disable()
		}
		update(e.under, below(now))
	}
}

// add adds entries to the menu, or to the submenu of an entry.
func (m *menu) add(under *systray.MenuItem, items []*fyne.MenuItem) (entries []*entry) {
	for _, i := range items {
		e := &entry{shown: i}
		entries = append(entries, e)
		switch {
		case i.IsSeparator && under != nil:
			under.AddSeparator()
			continue
		case i.IsSeparator:
			systray.AddSeparator()
			continue
		case under != nil && i.Checked:
			e.item = under.AddSubMenuItemCheckbox(i.Label, "", true)
		case under != nil:
			e.item = under.AddSubMenuItem(i.Label, "")
		case i.Checked:
			e.item = systray.AddMenuItemCheckbox(i.Label, "", true)
		default:
			e.item = systray.AddMenuItem(i.Label, "")
		}
		if i.Disabled {
			e.item.Disable()
		}
		e.under = m.add(e.item, below(i))
		bind.Each(m.ctx, e.item.ClickedCh, func() { e.shown.Action() }) // until the menu is replaced
	}
	return entries
}
