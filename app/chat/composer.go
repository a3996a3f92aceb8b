package chat

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// composer is the input area: text, pictures and files, the machine, the chat's cost, and Send or
// Stop.
type composer struct {
	chat     *current
	requests *requests
	window   fyne.CanvasObject // any object of the window
	hint     *hint
	onResize func() // called when the composer or its hint needs another size or place

	entry         *entry
	files         *attachments
	attach        *widgets.Button
	machineButton *widgets.Button
	usage         *hoverText // tokens and cost; explained in the hint
	send          *widgets.Button
	stop          *widgets.Button
	frame         *widgets.Background
	editNote      fyne.CanvasObject
	box           fyne.CanvasObject
	examples      widgets.Body // the content of an empty chat

	edited protocol.MessageID // the message that the text replaces; empty for a new one
	before draft              // what the field had before a message was edited
}

func newComposer(chat *current, r *requests, window fyne.CanvasObject) *composer {
	c := &composer{chat: chat, requests: r, window: window, hint: newHint(), entry: newEntry(), usage: newHoverText(style.ColorMuted, style.SizeSmall), files: newAttachments(chat), examples: widgets.NewBody()}
	c.files.onResize, c.files.onRemove = func() { c.onResize() }, c.focus
	c.entry.SetPlaceHolder("Message Fairlead…")
	c.entry.completion = c.newCompletion()
	c.entry.onSend = c.submit
	c.entry.onStop = func() bool {
		if !chat.state.IsRunning() {
			return false
		}
		r.stop()
		return true
	}
	c.entry.onPaste = c.files.paste
	c.entry.onGrow = func() { c.onResize() }
	c.entry.onRecall = c.onRecall
	c.entry.onCancel = func() bool {
		editing := c.edited != ""
		c.endEdit()
		return editing
	}
	c.editNote = newEditNote(c)
	c.usage.onHover = func(on bool) {
		c.hint.set(widgets.Choose(on, UsageWords(chat.state.Session), ""))
		c.onResize()
	}
	c.attach = widgets.NewIconButton("attach", "Attach files", func() {
		chat.host.Open(host.PickFiles{Title: "Attach files", Button: "Attach", Done: c.addPaths})
	})
	c.attach.Muted = true
	c.machineButton = widgets.NewMenuButton("", "machine", c.machineMenu)
	c.machineButton.Quiet, c.machineButton.Small, c.machineButton.Muted = true, true, true
	c.send = widgets.NewButton("Send", "send", c.submit)
	c.send.Primary = true
	c.stop = widgets.NewButton("Stop", "stop", r.stop)
	c.stop.Hide()
	const leastMachine = 64
	foot := widgets.Row(style.Inside, 1, c.attach, widgets.Shrinking(c.machineButton, leastMachine), c.usage, c.stop, c.send)
	c.frame = widgets.NewBackground(style.ColorSurface, style.ColorLine, style.Corner)
	c.entry.onFocus = func(on bool) {
		c.frame.Set(style.ColorSurface, widgets.Choose(on, style.ColorAccent, style.ColorLine))
	}
	// The outer frame is the border: the entry's own border is clipped.
	edge := container.NewClip(widgets.Inset(-4, -4, -4, -4, c.entry))
	// Fyne does so only at the first drawing, and then forgets the earlier size
	edge.ExtendBaseWidget(edge)
	plain := container.New(entryLayout{c.entry}, edge)
	// A click beside the text goes to the text.
	area := widgets.NewTapArea(widgets.NewRect("", "", 0), c.focus)
	c.box = container.NewStack(c.frame, area, widgets.Inset(4, 8, 8, 8, widgets.Col(style.Gap, c.editNote, c.files.strip, plain, c.files.problem, foot)))
	return c
}

// newCompletion creates the list that replaces the word before the cursor.
func (c *composer) newCompletion() *completion {
	list := newCompletion(c.chat)
	list.isEditing = func() bool { return c.edited != "" }
	list.onTap = c.focus
	list.onResize = func() { c.onResize() }
	list.accept = func(word string, o Completion) {
		c.entry.replaceWord(utf8.RuneCountInString(word), o.Insert)
		if o.Item != nil {
			c.attachItem(*o.Item)
		}
	}
	return list
}

// addPaths attaches pictures to the message, and the paths of other files.
func (c *composer) addPaths(paths []string) {
	c.files.addPaths(paths)
	c.focus()
}

// focus focuses the text field in a window that was drawn already.
func (c *composer) focus() { widgets.FocusIn(c.window, c.entry) }

// showExamples shows what can be asked in an empty chat; a click on an example sends it.
func (c *composer) showExamples() {
	s := c.chat.state
	list := examplesFor(s.Nodes, c.chat.currentMachine())
	text := introduction(s)
	drawn := c.examples.Draw(fmt.Sprint(text, list), func() fyne.CanvasObject {
		chips := make([]fyne.CanvasObject, len(list))
		for i, e := range list {
			chips[i] = widgets.NewChip(e.label, e.icon, func() {
				c.entry.remember(e.request)
				c.requests.send(e.request, nil, c.chat.machine)
			})
		}
		return widgets.NewEmptyState("", "What would you like to do?", text, chips...)
	})
	if drawn {
		c.onResize()
	}
}

type entryLayout struct{ entry *entry }

func (l entryLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	m := l.entry.MinSize()
	return fyne.NewSize(60, m.Height-8)
}

func (l entryLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

func (c *composer) submit() {
	text := strings.TrimSpace(c.entry.Text)
	if text == "" && len(c.files.list) == 0 {
		return
	}
	if text == Export && c.edited == "" {
		c.entry.SetText("")
		c.chat.host.Open(ExportFile(c.chat.host, c.chat.state.Session.SessionKey, export.Formats[0]))
		return
	}
	c.entry.remember(text)
	text, images := withPaths(text, c.files.list)
	edited := c.edited
	c.files.list = nil
	c.entry.SetText("")
	c.endEdit()
	c.files.show()
	c.files.problem.Hide()
	c.chat.view.ScrollToEnd()
	if edited != "" {
		c.requests.resend(protocol.ChatResendParams{MessageID: edited, Message: &text, Attachments: &images})
		return
	}
	c.requests.send(text, images, c.chat.machine)
}

func (c *composer) update() {
	s := c.chat.state
	running := s.IsRunning()
	widgets.SetVisible(c.stop, running)
	c.send.SetText(widgets.Choose(running, "Queue", "Send"))
	c.usage.SetText(usageText(s.Session))
	id := c.chat.currentMachine()
	name := c.chat.host.Machines.Name(string(id))
	if s.IsOffline(id) {
		name += ", offline"
	}
	c.machineButton.SetText("@" + name)
	widgets.SetVisible(c.machineButton, id != "")
	var sent []sentText
	for _, m := range s.Messages[max(len(s.Messages)-400, 0):] {
		if m.Role == protocol.RoleUser && (m.Origin == protocol.OriginPerson || m.Origin == protocol.OriginDirect) {
			if t := m.Content.Text(); t != "" && len(t) < 10_000 {
				own := sentText{text: t}
				if m.Origin == protocol.OriginPerson {
					own.id = m.ID
				}
				sent = append(sent, own)
			}
		}
	}
	c.entry.setHistory(sent)
	if len(s.Messages) == 0 {
		c.showExamples()
	}
}

func (c *composer) machineMenu() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	now := c.chat.currentMachine()
	for _, n := range c.chat.state.Nodes {
		label := c.chat.host.Machines.Name(string(n.ID))
		if n.Local && !c.chat.state.Elsewhere {
			label += " (this computer)"
		}
		if !n.Online {
			label += ", offline"
		}
		item := fyne.NewMenuItem(label, func() {
			c.chat.machine = n.ID
			c.update()
			c.onResize()
		})
		item.Icon = style.IconIn("online", c.chat.host.Machines.Color(string(n.ID)))
		item.Checked = n.ID == now
		item.Disabled = !n.Online
		items = append(items, item)
	}
	return items
}
