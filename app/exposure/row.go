package exposure

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// row shows a way in. It stays while that shows the same, so that its button keeps the focus.
type row struct {
	p     *Page
	e     protocol.Exposure
	box   fyne.CanvasObject
	times *widgets.Paragraph
	bar   widgets.Actions
}

// buttonSpace is how much higher a button is than the title beside it, at the top and at the
// bottom.
const buttonSpace = 4

func besideButton(name fyne.CanvasObject, b *widgets.Button) fyne.CanvasObject {
	return widgets.Inset(-buttonSpace, 0, -buttonSpace, 0, widgets.Row(style.Inside, 0, name, b))
}

// keyOf is what a row shows, without the times.
func keyOf(e protocol.Exposure) string {
	return fmt.Sprint(e.ID, e.Title, e.Reach, e.Warnings, e.Close != nil)
}

func newRow(p *Page, e protocol.Exposure) *row {
	r := &row{p: p, e: e, times: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall)}
	r.bar = widgets.NewActions(r.drawHead)
	reach, _ := wording.Reveal(e.Reach)
	text := widgets.Col(style.Gap, r.bar.Box, widgets.NewParagraph(reach, style.ColorMuted, style.SizeSmall))
	color := style.ColorMuted
	if warnings := warningText(e); warnings != "" {
		color = style.ColorNeedsYou
		text.Add(widgets.NewParagraph(warnings, style.ColorNeedsYou, style.SizeSmall))
	}
	text.Add(r.times)
	r.box = widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(icons[e.Kind], color)), text)
	r.drawHead()
	return r
}

// update shows the times, and reports whether they have changed.
func (r *row) update(e protocol.Exposure, now time.Time) bool {
	r.e = e
	text := timesText(e, now)
	changed := r.times.Text() != text
	r.times.Set(text, style.ColorMuted)
	return changed
}

// drawHead shows the title with the button that closes the way in, and the question before that.
func (r *row) drawHead() {
	drawn := r.bar.DrawActions("", func() fyne.CanvasObject {
		title, _ := wording.Reveal(r.e.Title)
		name := widgets.NewParagraph(title, style.ColorText, "text")
		name.SetStyle(fyne.TextStyle{Bold: true})
		c := r.e.Close
		switch {
		case c == nil:
			return name
		case c.Undo != nil:
			return besideButton(name, widgets.NewQuietButton(c.Button, "cross", func() { r.p.close(r.e) }))
		}
		ask := widgets.Confirmation{Text: c.Button, Icon: "cross", Question: question(r.e), Yes: c.Button, No: "Cancel"}
		head := besideButton(name, r.bar.ConfirmButton(ask, func() {
			r.bar.Confirm("")
			r.p.close(r.e)
		}))
		if r.bar.Confirming == "" {
			return head
		}
		return widgets.Col(style.Gap, head, widgets.NewParagraph(c.Ends, style.ColorNeedsYou, style.SizeSmall))
	})
	if drawn {
		r.p.LayOutText()
	}
}
