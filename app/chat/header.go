package chat

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/chats"
	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// header is the line above the transcript: title, approval mode, model, thinking level, and a menu
// for the rest.
type header struct {
	chat     *current
	window   fyne.CanvasObject // any object of the window
	onRename func()            // called after the title was edited
	title    *widgets.Text
	name     *widgets.NameField // replaces the title while it is edited
	model    *widgets.Button
	thinking *widgets.Button
	mode     *widgets.Button // approval mode of the chat
	menu     *widgets.Button
	leading  *fyne.Container // objects of the window before the title
	box      fyne.CanvasObject
}

func newHeader(chat *current, window fyne.CanvasObject) *header {
	h := &header{chat: chat, window: window, title: widgets.NewHeading("", "text"), leading: container.NewHBox()}
	h.title.Ellipsis = true
	h.name = widgets.NewNameField()
	h.name.OnSubmitted = h.endRename
	h.name.OnCancel = func() { h.endRename("") }
	h.name.Hide()
	h.model, h.thinking = widgets.NewMenuButton("", "", h.modelMenu), widgets.NewMenuButton("", "", h.thinkingMenu)
	h.mode = widgets.NewMenuButton("", "", h.modeMenu)
	for _, b := range []*widgets.Button{h.model, h.thinking, h.mode} {
		b.Quiet, b.Muted, b.Small = true, true, true
	}
	h.menu = widgets.NewIconButton("more", "Actions of the chat", func() { widgets.ShowMenu(h.menu, h.menuItems()) })
	title := container.NewStack(h.title, h.name)
	h.box = widgets.Inset(6, 12, 6, style.Group, widgets.Row(style.Inside, 1, h.leading, title, h.mode, h.model, h.thinking, h.menu))
	return h
}

func (h *header) show() {
	s := h.chat.state
	h.title.SetText(feed.TitleOf(s.Session))
	model := cmp.Or(s.Model.ID, "no model")
	for _, m := range s.Models {
		if m.Ref == s.Model {
			model = cmp.Or(m.Name, model)
		}
	}
	h.model.SetText(format.Clip(model, 28))
	thinking := "auto"
	if level := thinkingLevel(s); level != "" {
		thinking = strings.ToLower(wording.Thinking(level))
	}
	h.thinking.SetText("Thinking: " + thinking)
	if warn := chats.ModeOf(s.Session, h.chat.now).Mode == protocol.ModeTrust; warn != h.mode.Warn {
		h.mode.Warn = warn
		h.mode.Refresh()
	}
	h.mode.SetText(h.modeName())
}

// minTitleWidth is the width that is left for the title, at the normal text size.
const minTitleWidth = 96

// fit hides the thinking level, and then the model, in a header that is too narrow; the menu has
// them then. The approval mode is always shown.
func (h *header) fit(width float32) {
	room := width - minTitleWidth*style.Size("text")/14 - style.Group - 12 - 2*style.Inside
	for _, o := range []fyne.CanvasObject{h.leading, h.mode, h.menu} {
		if o.Visible() {
			room -= o.MinSize().Width + style.Inside
		}
	}
	for _, b := range []*widgets.Button{h.model, h.thinking} {
		room -= b.MinSize().Width + style.Inside
		widgets.SetVisible(b, room >= 0)
	}
}

func (h *header) modelMenu() []*fyne.MenuItem {
	s := h.chat.state
	var items []*fyne.MenuItem
	for _, m := range s.Models {
		item := fyne.NewMenuItem(cmp.Or(m.Name, m.Ref.ID), func() { h.chat.model().SetModel(m.Ref) })
		item.Checked = m.Ref == s.Model
		items = append(items, item)
	}
	if s.Session.Settings != nil && s.Session.Settings.Model != nil {
		items = append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Default from settings", func() { h.chat.model().SetModel(protocol.ModelRef{}) }))
	}
	return append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Other models…", func() { h.chat.host.Open(host.Page("Models")) }))
}

func (h *header) thinkingMenu() []*fyne.MenuItem {
	now := thinkingLevel(h.chat.state)
	var items []*fyne.MenuItem
	for _, level := range append([]string{""}, protocol.ThinkingLevels...) {
		item := fyne.NewMenuItem(wording.Thinking(level), func() { h.chat.model().SetThinking(level) })
		item.Checked = level == now
		items = append(items, item)
	}
	return items
}

// thinkingLevel returns the conversation's own level; empty for the default.
func thinkingLevel(s conversation.State) string {
	if s.Session.Settings == nil {
		return ""
	}
	return s.Session.Settings.ThinkingLevel
}

// menuItems returns the menu of the chat, and what does not fit beside the title.
func (h *header) menuItems() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	add := func(text, icon string, menu []*fyne.MenuItem) {
		item := fyne.NewMenuItem(text, nil)
		item.Icon, item.ChildMenu = style.Icon(icon), fyne.NewMenu("", menu...)
		items = append(items, item)
	}
	if !h.model.Visible() {
		add("Model", "person", h.modelMenu())
	}
	if !h.thinking.Visible() {
		add("Thinking", "thinking", h.thinkingMenu())
	}
	if h.chat.menu != nil {
		items = append(h.chat.menu(), items...)
	}
	return items
}

// Rename lets the person edit the title in place.
func (h *header) Rename() {
	h.name.SetText(feed.TitleOf(h.chat.state.Session))
	h.title.Hide()
	h.name.Show()
	widgets.FocusIn(h.window, h.name)
	h.name.TypedShortcut(&fyne.ShortcutSelectAll{})
}

// endRename shows the title again, and changes it unless the text is empty.
func (h *header) endRename(text string) {
	if !h.name.Visible() {
		return
	}
	h.name.Hide()
	h.title.Show()
	if text != "" && text != feed.TitleOf(h.chat.state.Session) {
		h.title.SetText(text)
		h.chat.host.Chats.Rename(h.chat.state.Session.SessionKey, text)
	}
	h.onRename()
}

func (h *header) modeMenu() []*fyne.MenuItem {
	now := chats.ModeOf(h.chat.state.Session, h.chat.now)
	limit, trust := chats.TrustLimit(h.chat.state.Nodes)
	var items []*fyne.MenuItem
	for _, c := range chats.ModeChoices {
		item := fyne.NewMenuItem(c.Text, func() { h.chat.host.Chats.SetMode(h.chat.state.Session.SessionKey, c) })
		item.Checked = c.Mode == now.Mode && c.For == 0
		item.Disabled = c.Mode == protocol.ModeTrust && !trust
		items = append(items, item)
	}
	if limit != "" {
		note := fyne.NewMenuItem(limit, nil)
		note.Disabled = true
		items = append(items, fyne.NewMenuItemSeparator(), note)
	}
	return items
}

func (h *header) modeName() string {
	return chats.ModeWord(chats.ModeOf(h.chat.state.Session, h.chat.now), h.chat.now)
}
