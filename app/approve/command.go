package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// command shows a command with its risky parts underlined, and the findings about each part below
// it.
func (d *Dialog) command(q protocol.Approval) []fyne.CanvasObject {
	text := widget.NewRichText()
	text.Wrapping = fyne.TextWrapBreak
	for _, s := range state.CommandSpans(q) {
		shown, _ := state.Reveal(s.Text)
		look := widget.RichTextStyle{Inline: true, SizeName: style.SizeCode, TextStyle: fyne.TextStyle{Monospace: true}}
		if s.Risky {
			look.ColorName, look.TextStyle.Underline, look.TextStyle.Bold = style.ColorBad, true, true
		}
		text.Segments = append(text.Segments, &widget.TextSegment{Text: shown, Style: look})
	}
	ground := widgets.NewRect(style.ColorCode, style.ColorLine, style.Corner)
	box := container.NewStack(ground, text)
	if d.h.Copy != nil {
		take := widgets.NewQuiet("", "copy", func() { d.h.Copy(state.QuestionText(q)) })
		take.Muted = true
		take.OnKey = d.key
		box = container.NewStack(ground, widgets.Border(nil, nil, nil, container.NewVBox(take), text))
	}
	rows := []fyne.CanvasObject{box}
	for i, p := range state.CommandParts(q) {
		if i == maxParts {
			rows = append(rows, widgets.NewText("and more parts", style.ColorMuted, style.SizeSmall))
			break
		}
		rows = append(rows, part(p))
	}
	return rows
}

// maxParts is the maximum number of parts listed.
const maxParts = 12

func part(p state.CommandPart) fyne.CanvasObject {
	icon, color := "right", style.ColorMuted
	if p.Risky {
		icon, color = "warning", style.ColorBad
	}
	line, _ := state.Reveal(p.Text)
	if r := []rune(line); len(r) > 60 {
		line = string(r[:59]) + "…"
	}
	name := &widget.TextSegment{Text: line, Style: widget.RichTextStyle{Inline: true, SizeName: style.SizeSmall, TextStyle: fyne.TextStyle{Monospace: true}}}
	about := ""
	if p.Path != "" {
		about += "  " + p.Path
	}
	if p.Reason != "" {
		about += "  " + p.Reason
	}
	about, _ = state.Reveal(about)
	says := widget.NewRichText(name, &widget.TextSegment{Text: about, Style: widget.RichTextStyle{Inline: true, SizeName: style.SizeSmall, ColorName: style.ColorMuted}})
	says.Wrapping = fyne.TextWrapWord
	return widgets.Lead(style.SizeSmall, 0, widget.NewIcon(style.IconIn(icon, color)), widgets.Bleed(says))
}
