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
		widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(item.Icon, item.Color)), widgets.NewSelectableText(item.Text)),
		widgets.NewField("Files", files(t)...),
		widgets.NewField("From", widgets.NewSelectableText(state.EndOf(p.view, t, t.From))),
		widgets.NewField("To", widgets.NewSelectableText(state.EndOf(p.view, t, t.To)+folder(t.Destination))),
		widgets.NewField("When", widgets.NewSelectableText(state.When(t.EndedAt, p.now()))),
	}
	if len(t.Problems) > 0 {
		var problems []fyne.CanvasObject
		for _, f := range t.Problems {
			problems = append(problems, widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("warning", style.ColorNeedsYou)), widgets.NewSelectableText(state.VisibleName(f.Path)+": "+f.Text)))
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

// files are the names of the transferred files.
func files(t protocol.Transfer) (rows []fyne.CanvasObject) {
	for i, s := range t.Sources {
		if i == maxFiles {
			return append(rows, moreText(len(t.Sources)-i))
		}
		rows = append(rows, widgets.NewSelectableText(state.VisibleName(state.PathOf(s))))
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
