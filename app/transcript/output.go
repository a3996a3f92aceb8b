package transcript

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
)

// A longer output than foldOver lines is folded to its first and its last lines, so that it needs
// no scroll bar of its own.
const (
	foldOver = 20
	foldHead = 5
	foldTail = 12
)

// callOutput is the lower part of an expanded card: output, notes, and buttons for them.
type callOutput struct {
	panel *code.Panel
	note  *widgets.Paragraph
	size  *widgets.Text // number of lines, and brief notes
	all   *widgets.Button
	undo  *widgets.Button
	more  *widgets.Button
	stop  *widgets.Button
	copy  *widgets.Button
	foot  *fyne.Container

	text   string // the output
	lines  []code.Line
	folded bool
	full   bool // the reader chose to see everything
	wraps  bool
}

// newOutput creates the parts; their buttons call the card's callbacks.
func (c *CallCard) newOutput() *callOutput {
	o := &callOutput{panel: code.NewPanel(1), note: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall), size: widgets.NewText("", style.ColorMuted, style.SizeSmall)}
	o.size.Ellipsis = true
	o.all = widgets.NewQuietButton("", "", func() { widgets.CallWith(c.OnShowAll, !o.full) })
	o.undo = widgets.NewQuietButton("", "undo", func() { widgets.Call(c.OnUndo) })
	o.more = widgets.NewIconButton("more", "Actions of the call", nil)
	o.more.OnTap = func() { widgets.ShowMenu(o.more, c.outputMenu()) }
	o.stop = widgets.NewButton("Stop", "stop", func() { widgets.Call(c.OnStop) })
	o.copy = widgets.NewQuietButton("Copy", "copy", func() { widgets.CallWith(c.OnCopy, c.CopyText()) })
	for _, b := range []*widgets.Button{o.all, o.undo, o.more, o.copy} {
		b.Small = true
	}
	o.foot = widgets.Row(style.Gap, 0, o.size, o.all, o.undo, o.stop, o.copy, o.more)
	return o
}

// outputMenu offers other ways to look at the output.
func (c *CallCard) outputMenu() []*fyne.MenuItem {
	wrap := fyne.NewMenuItem("Wrap lines", func() { widgets.CallWith(c.OnWrap, !c.output.wraps) })
	wrap.Checked = c.output.wraps
	return []*fyne.MenuItem{
		wrap,
		fyne.NewMenuItem("Search in output…", func() { widgets.CallWith(c.OnOpenOutput, true) }),
		fyne.NewMenuItem("Open in new window", func() { widgets.CallWith(c.OnOpenOutput, false) }),
	}
}

// show shows the output and the notes of a call; open reports whether the card is expanded.
func (o *callOutput) show(t Call, open bool) {
	running := t.State == CallRunning
	if open {
		o.panel.Scroller.Follow = running
		o.panel.SetWrap(o.wraps)
		o.setText(t.Output, !running && !o.full, t.CanLoad)
		o.limitHeight()
	}
	widgets.SetVisible(o.panel, open && t.Output != "")
	widgets.SetVisible(o.panel.View(), o.panel.Visible())
	o.note.Set(t.Note, style.ColorMuted)
	widgets.SetVisible(o.note, open && t.Note != "")
	o.size.SetText(o.sizeText(t))
	o.all.SetText(o.allText(t))
	widgets.SetVisible(o.all, o.all.Text != "")
	o.undo.SetText(t.Undo)
	widgets.SetVisible(o.undo, t.Undo != "")
	widgets.SetVisible(o.more, t.Output != "")
	widgets.SetVisible(o.stop, t.CanStop)
	widgets.SetVisible(o.foot, open && t.State != CallWaiting)
}

// limitHeight shows at most foldOver rows at once, and a bar below them only if all are in view.
func (o *callOutput) limitHeight() {
	most := foldOver * code.Cell().Height
	if len(o.lines) <= foldOver || o.folded {
		most += widgets.ScrollBarWidth
	}
	o.panel.Scroller.MaxHeight = most
}

// folds reports whether the output of a call will be folded.
func (o *callOutput) folds(t Call) bool {
	return t.State != CallRunning && !o.full && strings.Count(t.Output, "\n") >= foldOver
}

// setText shows a text, folded if it is long and may be folded; cut reports that it is incomplete.
func (o *callOutput) setText(text string, canFold, cut bool) {
	changed := text != o.text
	if changed {
		o.text, o.lines = text, code.OutputLines(text)
	}
	fold := canFold && len(o.lines) > foldOver
	if !changed && fold == o.folded {
		return
	}
	o.folded = fold
	if fold {
		o.panel.SetLines(foldLines(o.lines, cut))
	} else {
		o.panel.SetLines(o.lines)
	}
}

// foldLines returns the first and the last lines, with a line between them that counts the rest,
// unless the output was cut before.
func foldLines(lines []code.Line, cut bool) []code.Line {
	hidden := "⋯ " + wording.LineCount(len(lines)-foldHead-foldTail) + " not shown"
	if cut {
		hidden = "⋯ more lines not shown"
	}
	out := append([]code.Line{}, lines[:foldHead]...)
	out = append(out, code.Line{Spans: []code.Span{{Text: hidden, Color: style.ColorMuted}}})
	return append(out, lines[len(lines)-foldTail:]...)
}

// sizeText says how long the output is, and what else is brief.
func (o *callOutput) sizeText(t Call) string {
	size := cmp.Or(t.Size, wording.LineCount(len(o.lines)))
	if t.Output == "" {
		size = ""
	}
	return strings.Trim(size+" · "+t.Brief, " ·")
}

// allText is the text of the button that shows everything, or folds it again.
func (o *callOutput) allText(t Call) string {
	switch {
	case t.CanLoad, o.folded:
		return "Show all"
	case o.full && len(o.lines) > foldOver:
		return "Show less"
	}
	return ""
}

// reset prepares for another call.
func (o *callOutput) reset() {
	o.full = false
	o.panel.Scroller.Reset()
}
