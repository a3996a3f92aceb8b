package chat

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// composer is the input area: text, pictures to attach, the machine, the chat's cost, and Send or
// Stop.
type composer struct {
	p      *Pane
	entry  *entry
	thumbs *fyne.Container
	strip  *fyne.Container // container of the pictures, which scrolls
	attach *widgets.Button
	target *widgets.Button
	meter  *widgets.Text
	send   *widgets.Button
	stop   *widgets.Button
	frame  *widgets.Background
	note   *widgets.Text // reason why a file could not be added
	box    fyne.CanvasObject

	images []protocol.Attachment
	node   protocol.NodeID // chosen by the person; empty is automatic
}

func newComposer(p *Pane) *composer {
	c := &composer{p: p, entry: newEntry(), meter: widgets.NewText("", style.ColorMuted, style.SizeSmall), note: widgets.NewText("", style.ColorBad, style.SizeSmall)}
	c.entry.SetPlaceHolder("Message Fairlead…")
	c.entry.onSend = c.submit
	c.entry.onStop = func() bool {
		if !p.running() || p.h.Stop == nil {
			return false
		}
		p.h.Stop()
		return true
	}
	c.entry.onPaste = func() bool {
		if p.h.PasteImage == nil {
			return false
		}
		c.note.Hide()
		p.h.PasteImage(c.added)
		return true
	}
	c.entry.onGrow = p.relayout
	c.thumbs = widgets.Flow(style.Inside)
	c.strip = container.New(&stripLayout{c: c}, widgets.NewVScroll(c.thumbs))
	c.strip.Hide()
	c.note.Ellipsis = true
	c.note.Hide()
	c.attach = widgets.NewQuiet("", "attach", func() {
		if p.h.PickFiles != nil {
			p.h.PickFiles(p.AddFiles)
		}
	})
	c.attach.Muted = true
	c.target = widgets.NewQuiet("", "machine", nil)
	c.target.Small, c.target.Muted, c.target.Trail = true, true, "down"
	c.target.OnTap = func() { widgets.ShowMenu(c.target, c.nodeMenu()) }
	c.send = widgets.NewButton("Send", "send", c.submit)
	c.send.Primary = true
	c.stop = widgets.NewButton("Stop", "stop", func() {
		if p.h.Stop != nil {
			p.h.Stop()
		}
	})
	c.stop.Hide()
	foot := widgets.Row(style.Inside, 2, c.attach, c.target, layout.NewSpacer(), c.meter, c.stop, c.send)
	c.frame = widgets.NewBackground(style.ColorSurface, "inputBorder", style.Corner)
	c.entry.onFocus = func(on bool) {
		line := fyne.ThemeColorName("inputBorder")
		if on {
			line = style.ColorAccent
		}
		c.frame.SetLine(line)
	}
	// The outer frame is the border: the entry's own border is clipped.
	edge := container.NewClip(widgets.Inset(-4, -4, -4, -4, c.entry))
	// Fyne does so only at the first drawing, and then forgets the earlier size
	edge.ExtendBaseWidget(edge)
	plain := container.New(entryLayout{c.entry}, edge)
	c.box = container.NewStack(c.frame, widgets.Inset(4, 8, 8, 8, widgets.Col(style.Gap, c.strip, plain, c.note, foot)))
	return c
}

type entryLayout struct{ entry *entry }

func (l entryLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	m := l.entry.MinSize()
	return fyne.NewSize(60, m.Height-8)
}

func (l entryLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// stripLayout gives the pictures their height, up to two lines, or one in a low window; further
// ones are scrolled to.
type stripLayout struct {
	c      *composer
	height float32 // height at the last layout
}

// lowPane is the pane height below which pictures get one line.
const lowPane = 640

func (l *stripLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, l.height) }

func (l *stripLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	l.height = 0
	if thumbs := l.c.thumbs; len(thumbs.Objects) > 0 {
		line, lines := thumbs.Objects[0].MinSize().Height, float32(2)
		if l.c.p.Size().Height < lowPane*style.Size("text")/14 {
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
	if text == "" && len(c.images) == 0 || c.p.h.Send == nil {
		return
	}
	c.entry.remember(text)
	images := c.images
	c.images = nil
	c.entry.SetText("")
	c.showThumbs()
	c.note.Hide()
	c.p.transcript.ScrollToEnd()
	c.p.h.Send(text, images, c.node)
}

// added handles an attachment from a file or the clipboard.
func (c *composer) added(a protocol.Attachment, err error) {
	if err != nil {
		c.note.SetText("Could not attach the file: " + err.Error())
		c.note.Show()
	} else {
		c.images = append(c.images, a)
	}
	c.showThumbs()
}

func (c *composer) showThumbs() {
	c.thumbs.Objects = nil
	for i, a := range c.images {
		// an unreadable attachment shows an empty picture
		raw, _ := base64.StdEncoding.DecodeString(a.Data)
		r := drawable(a.Filename, raw)
		thumb := transcript.NewThumbnail(r, func() {
			if c.p.h.OpenImage != nil {
				c.p.h.OpenImage(r)
			}
		})
		remove := widgets.NewQuiet("Remove", "cross", func() {
			c.images = append(append([]protocol.Attachment{}, c.images[:i]...), c.images[i+1:]...)
			c.showThumbs()
			c.p.FocusComposer() // the focused button was removed
		})
		remove.Small, remove.Muted = true, true
		c.thumbs.Add(container.NewVBox(container.NewGridWrap(fyne.NewSize(112, 84), thumb), remove))
	}
	setVisible(c.strip, len(c.images) > 0)
	c.p.relayout()
}

// show updates the composer from the state.
func (c *composer) show(s State) {
	running := c.p.running()
	setVisible(c.stop, running && c.p.h.Stop != nil)
	send := "Send"
	if running {
		send = "Queue"
	}
	c.send.SetText(send)
	setVisible(c.attach, c.p.h.PickFiles != nil)
	c.meter.SetText(meter(s.Session))
	id, _ := c.nodeName(s)
	name := c.p.machines.Name(id)
	if offline(s, protocol.NodeID(id)) {
		name += ", offline"
	}
	c.target.SetText("@" + name)
	setVisible(c.target, id != "")
	var sent []string
	for _, m := range s.Messages[max(len(s.Messages)-400, 0):] {
		if m.Role == protocol.RoleUser && (m.Origin == protocol.OriginPerson || m.Origin == protocol.OriginDirect) {
			if t := m.Content.Text(); t != "" && len(t) < 10_000 {
				sent = append(sent, t)
			}
		}
	}
	c.entry.setHistory(sent)
}

// nodeName returns the default machine of "!" and the agent's tools: the chosen one, else the local
// one, else the first that is online.
func (c *composer) nodeName(s State) (string, fyne.ThemeColorName) {
	id := c.node
	if id == "" {
		for _, n := range s.Nodes {
			if n.Online && (id == "" || n.Local) {
				id = n.ID
			}
		}
	}
	return string(id), c.p.machines.Color(string(id))
}

func (c *composer) nodeMenu() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	now, _ := c.nodeName(c.p.state)
	for _, n := range c.p.state.Nodes {
		label := c.p.machines.Name(string(n.ID))
		if n.Local && !c.p.state.Elsewhere {
			label += " (this computer)"
		}
		if !n.Online {
			label += ", offline"
		}
		item := fyne.NewMenuItem(label, func() {
			c.node = n.ID
			c.show(c.p.state)
			c.p.relayout()
		})
		item.Icon = style.IconIn("online", c.p.machines.Color(string(n.ID)))
		item.Checked = string(n.ID) == now
		item.Disabled = !n.Online
		items = append(items, item)
	}
	return items
}

// addPath adds a file: a picture becomes an attachment, the path of any other file is inserted into
// the text.
func (c *composer) addPath(path string) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		if c.p.h.ReadFile != nil {
			c.p.h.ReadFile(path, c.added)
			return
		}
	}
	text := c.entry.Text
	if text != "" && !strings.HasSuffix(text, " ") && !strings.HasSuffix(text, "\n") {
		text += " "
	}
	if strings.ContainsAny(path, " \t") {
		path = fmt.Sprintf("%q", path)
	}
	c.entry.fill(text + path + " ")
}

func setVisible(o fyne.CanvasObject, on bool) {
	if o.Visible() != on {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
}
