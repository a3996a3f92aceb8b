package chat

import (
	"cmp"
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/export"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// composer is the input area: text, pictures and files, the machine, the chat's cost, and Send or Stop.
type composer struct {
	pane          *Pane
	entry         *entry
	thumbnails    *fyne.Container
	imageStrip    *fyne.Container // container of the pictures, which scrolls
	attach        *widgets.Button
	machineButton *widgets.Button
	usage         *hoverText // tokens and cost; explained in the hint
	send          *widgets.Button
	stop          *widgets.Button
	frame         *widgets.Background
	problem       *widgets.Text // reason why a file could not be added
	editNote      fyne.CanvasObject
	box           fyne.CanvasObject

	images  []protocol.Attachment
	machine protocol.NodeID    // chosen by the person; empty is automatic
	edited  protocol.MessageID // the message that the text replaces; empty for a new one
	before  draft              // what the field had before a message was edited
}

func newComposer(p *Pane) *composer {
	c := &composer{pane: p, entry: newEntry(), usage: newHoverText(style.ColorMuted, style.SizeSmall), problem: widgets.NewText("", style.ColorBad, style.SizeSmall)}
	c.entry.SetPlaceHolder("Message Fairlead…")
	c.entry.completion = newCompletion(p)
	c.entry.onSend = c.submit
	c.entry.onEscape = func() { p.finder.close() }
	c.entry.onStop = func() bool {
		if !p.state.isRunning() {
			return false
		}
		p.handlers.Stop()
		return true
	}
	c.entry.onPaste = func() bool {
		if p.handlers.PasteImage == nil {
			return false
		}
		c.problem.Hide()
		p.handlers.PasteImage(c.addAttachment)
		return true
	}
	c.entry.onGrow = p.relayout
	c.entry.onRecall = c.recalled
	c.entry.onCancel = func() bool {
		editing := c.edited != ""
		c.endEdit()
		return editing
	}
	c.editNote = newEditNote(c)
	c.usage.onHover = func(on bool) {
		p.hint.set(widgets.Choose(on, state.UsageWords(p.state.Session), ""))
		p.relayout()
	}
	c.thumbnails = widgets.Flow(style.Inside)
	c.imageStrip = container.New(&stripLayout{c: c}, widgets.NewVScroll(c.thumbnails))
	c.imageStrip.Hide()
	c.problem.Ellipsis = true
	c.problem.Hide()
	c.attach = widgets.NewQuietButton("", "attach", func() { p.handlers.PickFiles(p.AddFiles) })
	c.attach.Muted = true
	c.machineButton = widgets.NewMenuButton("", "machine", c.machineMenu)
	c.machineButton.Quiet, c.machineButton.Small, c.machineButton.Muted = true, true, true
	c.send = widgets.NewButton("Send", "send", c.submit)
	c.send.Primary = true
	c.stop = widgets.NewButton("Stop", "stop", p.handlers.Stop)
	c.stop.Hide()
	foot := widgets.Row(style.Inside, 2, c.attach, c.machineButton, layout.NewSpacer(), c.usage, c.stop, c.send)
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
	area := widgets.NewTapArea(widgets.NewRect("", "", 0), p.FocusComposer)
	c.box = container.NewStack(c.frame, area, widgets.Inset(4, 8, 8, 8, widgets.Col(style.Gap, c.editNote, c.imageStrip, plain, c.problem, foot)))
	return c
}

type entryLayout struct{ entry *entry }

func (l entryLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	m := l.entry.MinSize()
	return fyne.NewSize(60, m.Height-8)
}

func (l entryLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// stripLayout shows up to two lines of pictures, or one in a low window; others are scrolled to.
type stripLayout struct {
	c      *composer
	height float32 // height at the last layout
}

// lowPaneHeight is the pane height below which pictures get one line.
const lowPaneHeight = 640

func (l *stripLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, l.height) }

func (l *stripLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	l.height = 0
	if thumbs := l.c.thumbnails; len(thumbs.Objects) > 0 {
		line, lines := thumbs.Objects[0].MinSize().Height, float32(2)
		if l.c.pane.Size().Height < lowPaneHeight*style.Size("text")/14 {
			lines = 1
		}
		thumbs.Resize(fyne.NewSize(size.Width, size.Height))
		thumbs.Layout.Layout(thumbs.Objects, size)
		if l.height = thumbs.MinSize().Height; l.height > lines*(line+style.Inside) {
			// a part of the next line shows that there are more
			l.height = lines*(line+style.Inside) + line/4
		}
	}
	o[0].Resize(fyne.NewSize(size.Width, l.height))
}

func (c *composer) submit() {
	text := strings.TrimSpace(c.entry.Text)
	if text == "" && len(c.images) == 0 {
		return
	}
	if text == state.Export && c.edited == "" {
		c.entry.SetText("")
		c.pane.handlers.Export(export.Formats[0])
		return
	}
	c.entry.remember(text)
	text, images := withPaths(text, c.images)
	edited := c.edited
	c.images = nil
	c.entry.SetText("")
	c.endEdit()
	c.showThumbnails()
	c.problem.Hide()
	c.pane.transcript.ScrollToEnd()
	if edited != "" {
		c.pane.handlers.Resend(protocol.ChatResendParams{MessageID: edited, Message: &text, Attachments: &images, Node: c.machine})
		return
	}
	c.pane.handlers.Send(text, images, c.machine)
}

func (c *composer) addAttachment(a protocol.Attachment, err error) {
	if err != nil {
		c.problem.SetText("Could not attach the file: " + err.Error())
		c.problem.Show()
	} else {
		c.images = append(c.images, a)
	}
	c.showThumbnails()
}

func (c *composer) showThumbnails() {
	c.thumbnails.Objects = nil
	for i, a := range c.images {
		c.thumbnails.Add(c.chip(a, func() {
			c.images = slices.Delete(slices.Clone(c.images), i, i+1)
			c.showThumbnails()
			c.pane.FocusComposer() // the focused button was removed
		}))
	}
	widgets.SetVisible(c.imageStrip, len(c.images) > 0)
	c.pane.relayout()
}

// chip shows an attachment: its picture, name and size, and a button that removes it.
func (c *composer) chip(a protocol.Attachment, remove func()) fyne.CanvasObject {
	if x, ok := state.AttachedItemOf(a); ok {
		return itemChip(x, remove)
	}
	button := widgets.NewQuietButton("", "cross", remove)
	button.Small, button.Muted = true, true
	if isFileByPath(a) {
		return container.NewStack(widgets.NewRect("", style.ColorLine, style.Corner), widgets.Row(0, -1, fileChip(a.Filename), button))
	}
	// an unreadable attachment shows an icon
	raw, _ := base64.StdEncoding.DecodeString(a.Data)
	r := drawable(a.Filename, raw)
	picture := canvas.NewImageFromResource(r)
	picture.FillMode = canvas.ImageFillContain
	picture.SetMinSize(fyne.NewSize(36, 28))
	name := widgets.NewText(format.Clip(cmp.Or(a.Filename, "picture"), 32), style.ColorText, style.SizeSmall)
	size := widgets.NewText(format.Size(int64(len(raw))), style.ColorMuted, style.SizeSmall)
	open := widgets.NewClickable(widgets.Inset(2, 4, 2, 4, widgets.Row(style.Inside, -1, picture, name, size)), func() { c.pane.handlers.OpenImage(r) })
	return container.NewStack(widgets.NewRect("", style.ColorLine, style.Corner), widgets.Row(0, -1, open, button))
}

func (c *composer) update(s State) {
	running := s.isRunning()
	widgets.SetVisible(c.stop, running)
	c.send.SetText(widgets.Choose(running, "Queue", "Send"))
	c.usage.SetText(usageText(s.Session))
	id := c.currentMachine(s)
	name := c.pane.machines.Name(string(id))
	if s.isOffline(id) {
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
}

// currentMachine returns the chosen machine, else the local one, else the first that is online.
func (c *composer) currentMachine(s State) protocol.NodeID {
	id := c.machine
	if id == "" {
		for _, n := range s.Nodes {
			if n.Online && (id == "" || n.Local) {
				id = n.ID
			}
		}
	}
	return id
}

func (c *composer) machineMenu() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	now := c.currentMachine(c.pane.state)
	for _, n := range c.pane.state.Nodes {
		label := c.pane.machines.Name(string(n.ID))
		if n.Local && !c.pane.state.Elsewhere {
			label += " (this computer)"
		}
		if !n.Online {
			label += ", offline"
		}
		item := fyne.NewMenuItem(label, func() {
			c.machine = n.ID
			c.update(c.pane.state)
			c.pane.relayout()
		})
		item.Icon = style.IconIn("online", c.pane.machines.Color(string(n.ID)))
		item.Checked = n.ID == now
		item.Disabled = !n.Online
		items = append(items, item)
	}
	return items
}

// addPath attaches a picture, or the path of any other file.
func (c *composer) addPath(path string) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		c.pane.handlers.ReadFile(path, c.addAttachment)
		return
	}
	c.addAttachment(fileByPath(path), nil)
}
