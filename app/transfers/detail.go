package transfers

import (
	"fmt"
	"path"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/transfer"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// maxFiles is the maximum number of files named for a transfer.
const maxFiles = 50

// open shows a finished transfer with all known details, such as the full error.
func (p *Page) open(t protocol.Transfer) {
	p.detail = t.ID
	p.Show(widgets.Detail{})
	var buttons []fyne.CanvasObject
	for _, a := range p.actions(t) {
		if a.do != nil {
			buttons = append(buttons, widgets.NewButton(a.label, a.icon, a.do))
		}
	}
	buttons[len(buttons)-1].(*widgets.Button).Quiet = true // removes the transfer
	item := p.item(t)
	rows := []fyne.CanvasObject{
		widgets.Flow(style.Inside, buttons...),
		widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(item.Icon, item.Color)), widgets.NewSelectableText(transfer.Line(p.view, t, p.now()))),
		widgets.NewField("Files", files(t)...),
		widgets.NewField("From", widgets.NewSelectableText(transfer.EndOf(p.view, t, t.From))),
		widgets.NewField("To", widgets.NewSelectableText(transfer.EndOf(p.view, t, t.To)+folder(t.Destination))),
		widgets.NewField("When", widgets.NewSelectableText(format.When(t.EndedAt, p.now()))),
	}
	if len(t.Problems) > 0 {
		var problems []fyne.CanvasObject
		for _, f := range t.Problems {
			problems = append(problems, widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("warning", style.ColorNeedsYou)), widgets.NewSelectableText(wording.VisibleName(f.Path)+": "+f.Text)))
		}
		if more := t.Failed - len(t.Problems); more > 0 {
			problems = append(problems, moreText(more))
		}
		rows = append(rows, widgets.NewField("Files with problems", widgets.Col(style.Gap, problems...)))
	}
	title := transfer.Title(p.view, t)
	p.Put(widgets.NewPage(title, widgets.NewForm(rows...), widgets.NewQuietButton("All transfers", "back", p.Leave)))
}

// files are the names of the transferred files.
func files(t protocol.Transfer) (rows []fyne.CanvasObject) {
	for i, s := range t.Sources {
		if i == maxFiles {
			return append(rows, moreText(len(t.Sources)-i))
		}
		rows = append(rows, widgets.NewSelectableText(wording.VisibleName(transfer.PathOf(s))))
	}
	return rows
}

func moreText(n int) fyne.CanvasObject {
	return widgets.NewText(fmt.Sprintf("and %d more", n), style.ColorMuted, style.SizeSmall)
}

// folder is the destination's folder, after its machine; empty for the workspace itself.
func folder(destination string) string {
	if dir := transfer.PathOf(destination); dir != "" && path.Clean(dir) != "." {
		return ", " + dir
	}
	return ""
}

// card is an unfinished transfer.
type card struct {
	box      fyne.CanvasObject
	icon     *widget.Icon
	title    *widgets.Text
	line     *widgets.Text
	progress *widgets.Progress
	pause    *widgets.Button
	cancel   *widgets.Button
	paused   bool
	narrow   bool // no room for text on the buttons
}

func newCard(p *Page, id protocol.TransferID) *card {
	c := &card{title: widgets.NewText("", style.ColorText, "text"), progress: widgets.NewProgress()}
	c.line = widgets.NewText("", style.ColorMuted, style.SizeSmall)
	c.title.Ellipsis, c.line.Ellipsis = true, true
	c.icon = widget.NewIcon(style.IconIn("transfer", style.ColorAccent))
	c.pause = widgets.NewQuietButton("Pause", "pause", func() {
		act := protocol.TransferPause
		if c.paused {
			act = protocol.TransferResume
		}
		p.m.Control(act, id)
	})
	c.cancel = widgets.NewQuietButton("Cancel", "cross", func() { p.m.Control(protocol.TransferCancel, id) })
	inner := widgets.Col(style.Gap, container.New(&cardHeadLayout{widgets.Row(style.Inside, 1).Layout, c}, c.icon, c.title, c.pause, c.cancel), c.progress.Box, c.line)
	c.box = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner), widgets.Inset(style.Inside, style.Inside, style.Inside, style.Inside, inner))
	return c
}

func (c *card) show(v feed.View, t protocol.Transfer, now time.Time) {
	c.title.SetText(transfer.Title(v, t))
	line := transfer.Line(v, t, now)
	if t.Current != "" && t.Files > 1 {
		line += " · " + wording.VisibleName(t.Current)
	}
	c.line.SetText(line)
	c.progress.Set(transfer.Progress(t))
	c.paused = t.State == protocol.TransferPaused
	c.updateButtons()
	if t.Simple {
		c.pause.Hide() // its other end does not support pausing
	}
}

func (c *card) updateButtons() {
	word := func(s string) string {
		if c.narrow {
			return ""
		}
		return s
	}
	c.pause.Name, c.cancel.Name = widgets.Choose(c.paused, "Resume", "Pause"), "Cancel"
	c.pause.Set(word(c.pause.Name), widgets.Choose(c.paused, "play", "pause"))
	c.cancel.Set(word(c.cancel.Name), "cross")
}

// cardHeadLayout is a row whose buttons have icons only if there is little room for the name.
type cardHeadLayout struct {
	row fyne.Layout
	c   *card
}

// MinSize implements fyne.Layout.
func (l *cardHeadLayout) MinSize(o []fyne.CanvasObject) fyne.Size { return l.row.MinSize(o) }

// Layout implements fyne.Layout.
func (l *cardHeadLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	if narrow := size.Width < 440*style.Size("text")/14; narrow != l.c.narrow {
		l.c.narrow = narrow
		l.c.updateButtons()
	}
	l.row.Layout(o, size)
}
