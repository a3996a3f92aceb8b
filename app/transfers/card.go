package transfers

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// card is an unfinished transfer.
type card struct {
	page   *Page
	id     protocol.TransferID
	box    fyne.CanvasObject
	icon   *widget.Icon
	title  *widgets.Text
	line   *widgets.Text
	bar    *progressBar
	pause  *widgets.Button
	cancel *widgets.Button
	paused bool
	narrow bool // no room for text on the buttons
}

func newCard(p *Page, id protocol.TransferID) *card {
	c := &card{page: p, id: id, title: widgets.NewText("", style.ColorText, "text"), line: widgets.NewText("", style.ColorMuted, style.SizeSmall), bar: newBar()}
	c.title.Ellipsis, c.line.Ellipsis = true, true
	c.icon = widget.NewIcon(style.IconIn("transfer", style.ColorAccent))
	c.pause = widgets.NewQuietButton("Pause", "pause", func() {
		act := protocol.TransferPause
		if c.paused {
			act = protocol.TransferResume
		}
		p.app.Transfers.Control(act, id)
	})
	c.cancel = widgets.NewQuietButton("Cancel", "cross", func() { p.app.Transfers.Control(protocol.TransferCancel, id) })
	inner := widgets.Col(style.Gap, container.New(&cardHeadLayout{widgets.Row(style.Inside, 1).Layout, c}, c.icon, c.title, c.pause, c.cancel), c.bar, c.line)
	c.box = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner), widgets.Inset(style.Inside, style.Inside, style.Inside, style.Inside, inner))
	return c
}

func (c *card) show(v state.View, t protocol.Transfer, now time.Time) {
	c.title.SetText(state.TransferTitle(v, t))
	line := state.TransferLine(v, t, now)
	if t.Current != "" && t.Files > 1 {
		line += " · " + state.VisibleName(t.Current)
	}
	c.line.SetText(line)
	c.bar.set(state.Progress(t))
	c.paused = t.State == protocol.TransferPaused
	c.updateButtons()
	if t.Simple {
		c.pause.Hide() // its other end does not support pausing
	}
}

// progressBar shows a progress fraction.
type progressBar struct {
	widget.BaseWidget
	fraction float64
	track    *widgets.Rect
	full     *widgets.Rect
	box      *fyne.Container
}

func newBar() *progressBar {
	b := &progressBar{track: widgets.NewRect(style.ColorLine, "", 2), full: widgets.NewRect(style.ColorAccent, "", 2)}
	b.box = container.New(barLayout{b}, b.track, b.full)
	b.ExtendBaseWidget(b)
	return b
}

func (b *progressBar) set(part float64) {
	if part != b.fraction {
		b.fraction = part
		barLayout{b}.Layout(nil, b.Size())
	}
}

type barLayout struct{ b *progressBar }

func (barLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(80, 4) }

func (l barLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	l.b.track.Resize(size)
	l.b.full.Resize(fyne.NewSize(size.Width*float32(l.b.fraction), size.Height))
}

// CreateRenderer implements fyne.Widget.
func (b *progressBar) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(b.box) }

// updateButtons shows text on the buttons if it fits.
func (c *card) updateButtons() {
	word := func(s string) string {
		if c.narrow {
			return ""
		}
		return s
	}
	if c.paused {
		c.pause.Set(word("Resume"), "play")
	} else {
		c.pause.Set(word("Pause"), "pause")
	}
	c.cancel.Set(word("Cancel"), "cross")
}

// cardHeadLayout is a row whose buttons have icons only, if text would leave too little width for
// the name.
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
