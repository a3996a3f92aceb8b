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

// command shows a command with its risky parts underlined, and the findings details each part below
// it.
func (v *questionView) command(q protocol.Approval) []fyne.CanvasObject {
	text := widget.NewRichText()
	text.Wrapping = fyne.TextWrapBreak
	for _, s := range state.CommandSpans(q) {
		shown, _ := state.Reveal(s.Text)
		textStyle := widget.RichTextStyle{Inline: true, SizeName: style.SizeCode, TextStyle: fyne.TextStyle{Monospace: true}}
		if s.Risky {
			textStyle.ColorName, textStyle.TextStyle.Underline, textStyle.TextStyle.Bold = style.ColorBad, true, true
		}
		text.Segments = append(text.Segments, &widget.TextSegment{Text: shown, Style: textStyle})
	}
	background := widgets.NewRect(style.ColorCode, style.ColorLine, style.Corner)
	box := container.NewStack(background, text)
	if v.copyText != nil {
		copyButton := widgets.NewQuietButton("", "copy", func() { v.copyText(state.QuestionText(q)) })
		copyButton.Muted = true
		copyButton.OnKey = v.onKey
		box = container.NewStack(background, widgets.Border(nil, nil, nil, container.NewVBox(copyButton), text))
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
	details := ""
	if p.Path != "" {
		details += "  " + p.Path
	}
	if p.Reason != "" {
		details += "  " + p.Reason
	}
	details, _ = state.Reveal(details)
	description := widget.NewRichText(name, &widget.TextSegment{Text: details, Style: widget.RichTextStyle{Inline: true, SizeName: style.SizeSmall, ColorName: style.ColorMuted}})
	description.Wrapping = fyne.TextWrapWord
	return widgets.WithIcon(style.SizeSmall, 0, widget.NewIcon(style.IconIn(icon, color)), widgets.WithoutPadding(description))
}
