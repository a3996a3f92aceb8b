package transfers

import (
	"fmt"
	"path"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// maxFiles is the maximum number of files named for a transfer.
const maxFiles = 50

// open shows a finished transfer with all known details, such as the full error.
func (p *Page) open(t protocol.Transfer) {
	p.detail = t.ID
	again := widgets.NewButton("Send again", "reset", func() { p.app.Transfers.SendAgain(t); p.Back() })
	if t.State != protocol.TransferDone {
		again = widgets.NewButton("Try again", "reset", func() { p.app.Transfers.Retry(t.ID); p.Back() })
	}
	var acts []fyne.CanvasObject
	if !state.IsRemoteEnd(p.view, t) {
		acts = append(acts, again)
	}
	if t.Path != "" && p.isHere(t) {
		acts = append(acts, widgets.NewButton("Show in folder", "folder", func() { p.handlers.Reveal(t.Path) }))
	}
	if p.canUndo(t) {
		acts = append(acts, widgets.NewButton("Restore replaced files", "undo", func() { p.undo(t) }))
	}
	acts = append(acts, widgets.NewQuietButton("Remove from history", "trash", func() { p.remove(t); p.Back() }))
	item := p.item(t)
	rows := []fyne.CanvasObject{
		widgets.Flow(style.Inside, acts...),
		widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(item.Icon, item.Color)), selectableText(item.Text)),
		widgets.NewField("Files", files(t)...),
		widgets.NewField("From", selectableText(state.EndOf(p.view, t, t.From))),
		widgets.NewField("To", selectableText(state.EndOf(p.view, t, t.To)+folder(t.Destination))),
		widgets.NewField("When", selectableText(state.When(t.EndedAt, p.now()))),
	}
	if len(t.Problems) > 0 {
		var problems []fyne.CanvasObject
		for _, f := range t.Problems {
			problems = append(problems, widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("warning", style.ColorNeedsYou)), selectableText(state.VisibleName(f.Path)+": "+f.Text)))
		}
		if more := t.Failed - len(t.Problems); more > 0 {
			problems = append(problems, moreText(more))
		}
		rows = append(rows, widgets.NewField("Files with problems", widgets.Col(style.Gap, problems...)))
	}
	title := state.TransferTitle(p.view, t)
	p.Put(widgets.NewPage(title, widgets.NewForm(rows...), widgets.NewQuietButton("All transfers", "back", func() { p.Back() })))
}

// Back returns from one transfer to the list, and reports whether one was shown.
func (p *Page) Back() bool {
	if p.detail == "" {
		return false
	}
	p.detail = ""
	p.Forget()
	p.draw()
	widgets.Focus(p.list)
	return true
}

// selectableText creates a text that can be selected and copied.
func selectableText(text string) fyne.CanvasObject {
	l := widget.NewLabel(text)
	l.Selectable, l.Wrapping = true, fyne.TextWrapWord
	return widgets.WithoutPadding(l)
}

// files are the names of the transferred files.
func files(t protocol.Transfer) (rows []fyne.CanvasObject) {
	for i, s := range t.Sources {
		if i == maxFiles {
			return append(rows, moreText(len(t.Sources)-i))
		}
		rows = append(rows, selectableText(state.VisibleName(state.PathOf(s))))
	}
	return rows
}

func moreText(n int) fyne.CanvasObject {
	return widgets.NewText(fmt.Sprintf("and %d more", n), style.ColorMuted, style.SizeSmall)
}

// folder is the destination's folder, after its machine; empty for the workspace itself.
func folder(destination string) string {
	if dir := state.PathOf(destination); dir != "" && path.Clean(dir) != "." {
		return ", " + dir
	}
	return ""
}
