package chat

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// header is the line above the transcript: title, model, thinking level, and a menu (⋯) for
// everything else.
type header struct {
	p      *Pane
	title  *widgets.Text
	name   *nameEntry // replaces the title while it is edited
	model  *widgets.Button
	think  *widgets.Button
	mode   *widgets.Button // approval mode of the chat
	more   *widgets.Button
	left   *fyne.Container // objects of the window before the title
	box    fyne.CanvasObject
	narrow bool
}

func newHeader(p *Pane) *header {
	h := &header{p: p, title: widgets.NewHeading("", "text"), left: container.NewHBox()}
	h.title.Ellipsis = true
	h.name = newNameEntry(h.done)
	h.name.Hide()
	pick := func(open func()) *widgets.Button {
		b := widgets.NewQuiet("", "", open)
		b.Trail, b.Muted, b.Small = "down", true, true
		return b
	}
	h.model = pick(func() { widgets.ShowMenu(h.model, h.modelMenu()) })
	h.think = pick(func() { widgets.ShowMenu(h.think, h.thinkMenu()) })
	h.mode = pick(func() { widgets.ShowMenu(h.mode, h.modeMenu()) })
	h.more = widgets.NewQuiet("", "more", func() { widgets.ShowMenu(h.more, h.moreMenu()) })
	title := container.NewStack(h.title, h.name)
	h.box = widgets.Inset(6, 12, 6, style.Group, widgets.Row(style.Inside, 1, h.left, title, h.mode, h.model, h.think, h.more))
	return h
}

func (h *header) show(s State) {
	h.title.SetText(title(s.Session))
	model := s.Model.ID
	for _, m := range s.Models {
		if m.Ref == s.Model && m.Name != "" {
			model = m.Name
		}
	}
	if model == "" {
		model = "no model"
	}
	limit := 28
	if h.narrow {
		limit = 20
	}
	if r := []rune(model); len(r) > limit {
		model = string(r[:limit-1]) + "…"
	}
	h.model.SetText(model)
	setVisible(h.model, h.p.h.SetModel != nil)
	think := "Thinking: auto"
	if s.Session.Settings != nil && s.Session.Settings.ThinkingLevel != "" {
		think = "Thinking: " + strings.ToLower(state.ThinkingName(s.Session.Settings.ThinkingLevel))
	}
	h.think.SetText(think)
	setVisible(h.think, h.p.h.SetThink != nil && !h.narrow)
	h.showMode(s)
}

func (h *header) modelMenu() []*fyne.MenuItem {
	s := h.p.state
	var items []*fyne.MenuItem
	for _, m := range s.Models {
		name := m.Name
		if name == "" {
			name = m.Ref.ID
		}
		item := fyne.NewMenuItem(name, func() { h.p.h.SetModel(m.Ref) })
		item.Checked = m.Ref == s.Model
		items = append(items, item)
	}
	if s.Session.Settings != nil && s.Session.Settings.Model != nil {
		items = append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Default from settings", func() { h.p.h.SetModel(protocol.ModelRef{}) }))
	}
	if h.p.h.Settings != nil {
		items = append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Other models…", h.p.h.Settings))
	}
	return items
}

func (h *header) thinkMenu() []*fyne.MenuItem {
	now := ""
	if s := h.p.state.Session.Settings; s != nil {
		now = s.ThinkingLevel
	}
	items := []*fyne.MenuItem{fyne.NewMenuItem(state.ThinkingName(""), func() { h.p.h.SetThink("") })}
	items[0].Checked = now == ""
	for _, level := range protocol.ThinkingLevels {
		item := fyne.NewMenuItem(state.ThinkingName(level), func() { h.p.h.SetThink(level) })
		item.Checked = level == now
		items = append(items, item)
	}
	return items
}

func (h *header) moreMenu() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	add := func(text, icon string, act func()) {
		if act != nil {
			item := fyne.NewMenuItem(text, act)
			item.Icon = style.Icon(icon)
			items = append(items, item)
		}
	}
	if h.p.h.Rename != nil {
		add("Rename", "edit", h.Rename)
	}
	add("Export as Markdown…", "export", h.p.h.Export)
	add("Earlier conversations", "clock", h.p.h.Earlier)
	if h.narrow && h.p.h.SetThink != nil {
		item := fyne.NewMenuItem("Thinking", nil)
		item.Icon = style.Icon("thinking")
		item.ChildMenu = fyne.NewMenu("", h.thinkMenu()...)
		items = append(items, item)
	}
	if h.narrow && h.p.h.SetMode != nil {
		item := fyne.NewMenuItem("Approvals", nil)
		item.Icon = style.Icon("shield")
		item.ChildMenu = fyne.NewMenu("", h.modeMenu()...)
		items = append(items, item)
	}
	if h.p.h.Reset != nil {
		items = append(items, fyne.NewMenuItemSeparator())
		add("Clear chat", "reset", h.p.h.Reset)
	}
	if h.p.h.Delete != nil {
		add("Delete chat", "trash", h.p.h.Delete)
	}
	return slices.Clip(items)
}

// Rename lets the person edit the title in place.
func (h *header) Rename() {
	h.name.SetText(title(h.p.state.Session))
	h.title.Hide()
	h.name.Show()
	// the field was not drawn yet and has no canvas
	if c := fyne.CurrentApp().Driver().CanvasForObject(h.p); c != nil {
		c.Focus(h.name)
	}
	h.name.TypedShortcut(&fyne.ShortcutSelectAll{})
}

func (h *header) done(text string, ok bool) {
	if !h.name.Visible() {
		return
	}
	h.name.Hide()
	h.title.Show()
	if ok && text != "" && text != title(h.p.state.Session) && h.p.h.Rename != nil {
		h.title.SetText(text)
		h.p.h.Rename(text)
	}
	h.p.FocusComposer()
}

// nameEntry is the title while it is edited: Enter saves, Escape cancels.
type nameEntry struct {
	widget.Entry
	done func(string, bool)
}

func newNameEntry(done func(string, bool)) *nameEntry {
	e := &nameEntry{done: done}
	e.ExtendBaseWidget(e)
	e.OnSubmitted = func(s string) { done(s, true) }
	return e
}

// TypedKey implements fyne.Focusable.
func (e *nameEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		e.done("", false)
		return
	}
	e.Entry.TypedKey(k)
}
