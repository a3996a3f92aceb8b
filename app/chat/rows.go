package chat

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	_ "image/gif"  // the supported formats
	_ "image/jpeg" // these three only
	_ "image/png"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/picture"
	"fairlead/gateway/protocol"
)

// row is one row of the transcript: a widget, and a function that shows an item.
type row struct {
	widgets.Composite
	content fyne.CanvasObject
	box     *fyne.Container
	top     float32
	bind    func(transcript.Item)
}

func newRow(top float32, o fyne.CanvasObject, bind func(transcript.Item)) *row {
	r := &row{content: o, box: container.NewStack(o), top: top, bind: bind}
	r.Compose(r, r.box)
	return r
}

// Bind implements transcript.Row.
func (r *row) Bind(i transcript.Item) {
	r.bind(i)
	r.box.Layout = layout.NewCustomPaddedLayout(r.top, style.Gap, 0, 0)
	if s := r.Size(); s.Width > 0 {
		r.box.Layout.Layout(r.box.Objects, s)
	}
}

// Passages implements transcript.Row.
func (r *row) Passages() []selection.Passage {
	if c, ok := r.content.(interface{ Passages() []selection.Passage }); ok {
		return c.Passages()
	}
	return nil
}

// rowFactory creates the rows of its pane.
type rowFactory struct{ *Pane }

func (p rowFactory) row(kind int) transcript.Row {
	switch kind {
	case kindMessage:
		return p.messageRow()
	case kindTool:
		return p.toolRow()
	case kindThinking:
		return p.thinkingRow()
	case kindNotice:
		return p.noticeRow()
	case kindProblem:
		return p.problemRow()
	case kindDay:
		d := transcript.NewDivider()
		return newRow(style.Group, d, func(i transcript.Item) { d.SetText(i.Data.(dayData).text) })
	}
	return p.queuedRow()
}

func (p rowFactory) thinkingRow() *row {
	var d thinkingData
	var row string
	e := transcript.NewExpander("thinking")
	e.OnToggle = func(open bool) { p.setExpanded(row, d.id, open) }
	e.OnPress = p.transcript.Press
	e.OnMenu = func(at fyne.Position) { p.copyMenu(e, at, "Copy thinking", d.text) }
	return newRow(style.Inside, e, func(i transcript.Item) {
		d, row = i.Data.(thinkingData), i.Key
		e.Set(d.title, d.text, p.expanded[d.id])
	})
}

func (p rowFactory) noticeRow() *row {
	var d noticeData
	n := transcript.NewNotice()
	n.OnButton = func() { p.runAction(d.action, "") }
	return newRow(style.Inside, n, func(i transcript.Item) {
		d = i.Data.(noticeData)
		n.Set(d.icon, d.text, d.button)
	})
}

func (p rowFactory) problemRow() *row {
	var d problemData
	e := widgets.NewErrorBox(widgets.Problem{}, func() { p.runAction(d.action, d.run) })
	e.OnRetry = func() { p.runAction(actionRetry, d.run) }
	return newRow(style.Inside, e, func(i transcript.Item) {
		d = i.Data.(problemData)
		e.Set(d.problem)
	})
}

// queuedRow shows a message that waits for the run in progress.
func (p rowFactory) queuedRow() *row {
	var d queuedData
	text := widgets.NewText("", style.ColorMuted, "text")
	text.Ellipsis = true
	label := widgets.NewText("Next", style.ColorMuted, style.SizeSmall)
	takeBack := widgets.NewQuietButton("Take back", "cross", func() {
		p.handlers.Unqueue(d.run)
		p.SetDraft(strings.TrimRight(d.text+"\n"+p.Draft(), "\n"))
		p.FocusComposer()
	})
	takeBack.Small = true
	line := widgets.Inset(4, 4, 4, 12, widgets.Row(style.Inside, 1, label, text, takeBack))
	box := container.NewStack(widgets.NewRect("", style.ColorLine, style.Corner), line)
	return newRow(style.Gap, box, func(i transcript.Item) {
		d = i.Data.(queuedData)
		first, _, many := strings.Cut(d.text, "\n")
		if many {
			first += " …"
		}
		if strings.TrimSpace(first) == "" {
			first = "Pictures"
		}
		text.SetText(first)
	})
}

// source returns the whole text of the message that a row belongs to.
func (p rowFactory) source(d messageData) string {
	if m := p.state.storedMessage(d.id); m != nil {
		return m.Content.Text()
	}
	for _, r := range p.state.Runs {
		if r.RunID == d.run && d.run != "" {
			return r.Text
		}
	}
	return d.text
}

func (p rowFactory) toolRow() *row {
	var d toolData
	var row string
	c := transcript.NewCallCard()
	c.Forward, c.OnCopy = p.transcript.Scrolled, copyText
	c.OnToggle = func(open bool) { p.setExpanded(row, d.id, open) }
	c.OnPress, c.OnTextMoved = p.transcript.Press, p.transcript.TextMoved
	c.OnMenu = func(at fyne.Position) { p.copyMenu(c, at, "Copy output", c.CopyText()) }
	c.OnStop = func() { p.handlers.StopCall(d.call) }
	c.OnReview = func() { p.handlers.Review(d.approval) }
	c.OnUndo = func() { p.undoCall(d.info) }
	c.OnShowAll = func(all bool) {
		c.SetOutput(all, p.wrapOutput)
		p.setExpanded(row, wholeKey(d.id), all)
		if all && d.card.CanLoad {
			p.loadOutput(d.call)
		}
	}
	c.OnWrap = func(on bool) {
		p.wrapOutput = on
		widgets.CallWith(p.handlers.SetWrap, on)
		p.rebindCards()
	}
	c.OnOpenOutput = func(search bool) { p.openOutput(d, search) }
	answer := func(decision string) {
		for _, q := range p.state.Approvals {
			if q.ID == d.approval {
				p.handlers.Answer(q, decision)
			}
		}
	}
	c.OnShowsAll = func(whole bool) { p.builder.recordSighting(d.approval, d.hash, whole, p.now) }
	c.OnDeny = func() { answer(protocol.DecisionDeny) }
	c.OnAllow = func() { answer(protocol.DecisionAllow) }
	return newRow(style.Gap, c, func(i transcript.Item) {
		next := i.Data.(toolData)
		open := p.expanded.isExpanded(next.id, next.open)
		if next.id != d.id {
			c.Reset(open)
		}
		d, row = next, i.Key
		if p.handlers.Undo == nil { // an archived conversation
			d.card.Undo = ""
		}
		c.SetOutput(p.showsWhole(d.id), p.wrapOutput)
		c.Set(d.card)
		c.SetOpen(open)
	})
}

// copyMenu offers to copy the selection or the whole text, and more.
func (p rowFactory) copyMenu(over fyne.CanvasObject, at fyne.Position, name, whole string, more ...*fyne.MenuItem) {
	var items []*fyne.MenuItem
	if p.transcript.HasSelection() {
		items = append(items, fyne.NewMenuItem("Copy", func() { copyText(p.transcript.SelectedText()) }))
	}
	items = append(items, fyne.NewMenuItem(name, func() { copyText(whole) }))
	widgets.ShowMenuAt(over, at, append(items, more...))
}

// pictures returns the pictures of keys, and loads missing ones.
func (p rowFactory) pictures(keys string) []fyne.Resource {
	if keys == "" {
		return nil
	}
	var list []fyne.Resource
	for key := range strings.SplitSeq(keys, "\n") {
		if _, known := p.images[key]; !known {
			p.loadPicture(key, keys)
		}
		list = append(list, p.images[key])
	}
	return list
}

// loadPicture loads one of the pictures of a row; it is an icon until it arrives.
func (p rowFactory) loadPicture(key, keys string) {
	p.images[key] = style.IconIn("image", style.ColorMuted)
	if data, inline := strings.CutPrefix(key, "data:"); inline {
		if raw, err := base64.StdEncoding.DecodeString(data); err == nil {
			p.images[key] = drawable(key, raw)
		}
		return
	}
	p.handlers.Media(key, func(data []byte, err error) {
		if err == nil {
			p.images[key] = drawable(key, data)
			for _, it := range p.transcript.Items() {
				if d, ok := it.Data.(messageData); ok && d.images == keys {
					p.transcript.Rebind(it.Key)
				}
			}
		}
	})
}

// drawable returns a picture as a resource with a unique name per content, because Fyne caches by
// name. One that cannot be decoded becomes a [transcript.Unreadable]: Fyne would try again, and log
// the error, each time it draws the window.
func drawable(key string, data []byte) fyne.Resource {
	if _, err := picture.Open(data); err != nil {
		return &transcript.Unreadable{Resource: style.IconIn("image", style.ColorMuted), Data: data}
	}
	h := fnv.New64a()
	h.Write([]byte(key))
	h.Write(data)
	return fyne.NewStaticResource(fmt.Sprintf("picture-%x", h.Sum64()), picture.Repair(data))
}
