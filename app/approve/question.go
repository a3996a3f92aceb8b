package approve

import (
	"fmt"
	"path"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/diff"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// questionView creates the content of the dialog for an approval.
type questionView struct {
	machines *style.Machines
	copyText func(string) // copies to the clipboard
	onKey    func(fyne.KeyName) bool
	onScroll func(*fyne.ScrollEvent) // receives scroll events over panels
}

// content has everything the person must see, in order of importance.
func (v *questionView) content(q protocol.Approval, o *options) fyne.CanvasObject {
	rows := []fyne.CanvasObject{}
	if q.Node != "" {
		rows = append(rows, v.machine(q))
	}
	rows = append(rows, fact("asked by", askedBy(q)))
	if q.Kind == protocol.AskCall {
		rows = append(rows, v.call(q, o)...)
	}
	rows = append(rows, previewRows(q.Preview)...)
	rows = append(rows, sandboxRows(q)...)
	rows = append(rows, fact("reason", q.Why))
	return widgets.Col(style.Inside, append(rows, o.rows()...)...)
}

// previewRows shows where the call works, and warnings about that.
func previewRows(p *protocol.CallPreview) (rows []fyne.CanvasObject) {
	if p == nil {
		return nil
	}
	if p.Folder != "" {
		rows = append(rows, fact("folder", p.Folder))
	}
	if p.Problem != "" {
		rows = append(rows, warning(p.Problem))
	}
	if p.Truncated {
		rows = append(rows, warning("The change is longer than shown here, so it can be allowed only once."))
	}
	if p.Outside {
		rows = append(rows, warning("This is outside the workspace."))
	}
	if p.Secret != "" {
		rows = append(rows, warning("This folder contains keys and tokens: "+p.Secret))
	}
	return rows
}

// sandboxRows shows what limits the call.
func sandboxRows(q protocol.Approval) (rows []fyne.CanvasObject) {
	add := func(label, text string, isWarning bool) {
		switch {
		case text == "":
		case isWarning:
			rows = append(rows, labelledRow(label, warning(text)))
		default:
			rows = append(rows, fact(label, text))
		}
	}
	if state.NotConfined(q) {
		add("sandbox", "not enforced on this machine: the command can do everything you can", true)
	} else if q.Sandbox != "" {
		add("sandbox", display.Sandbox(q.Sandbox, q.Host), state.PartlyConfined(q))
	}
	add("your rules", state.FilesText(q), state.FilesLoose(q))
	words, open := state.NetworkWords(q)
	add("network", words, open)
	return rows
}

func (v *questionView) machine(q protocol.Approval) fyne.CanvasObject {
	color := v.machines.Color(string(q.Node))
	mark := widgets.NewRect(color, "", 3)
	icon := container.NewGridWrap(fyne.NewSquareSize(style.IconNormal), widget.NewIcon(style.IconIn("machine", color)))
	id := string(q.Node)
	name := widgets.NewHeading(v.machines.Name(id), "text")
	var about []string
	if name.Text != id {
		about = append(about, id)
	}
	if q.Host != nil {
		for _, s := range []string{q.Host.OS, q.Host.Address} {
			if s != "" {
				about = append(about, s)
			}
		}
	}
	info := widgets.NewText(strings.Join(about, ", "), style.ColorMuted, "text")
	info.Ellipsis = true
	return widgets.Row(style.Inside, 3, container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(12), mark)), icon, name, info)
}

func askedBy(q protocol.Approval) string {
	s := q.AskedBy.Kind
	if q.AskedBy.Name != "" {
		s += fmt.Sprintf(" “%s”", q.AskedBy.Name)
	}
	switch q.AskedBy.Model {
	case "":
	case state.OperatorModel:
		s += ", the built-in operator"
	default:
		s += ", model " + q.AskedBy.Model
	}
	return s
}

// call shows the command or the change itself, with hidden characters made visible.
func (v *questionView) call(q protocol.Approval, o *options) []fyne.CanvasObject {
	text, hidden := state.Reveal(state.QuestionText(q))
	if q.Preview != nil && q.Preview.Diff != "" {
		diff, more := state.Reveal(q.Preview.Diff)
		text, hidden = text+"\n"+diff, hidden || more
	}
	var rows []fyne.CanvasObject
	if q.Preview != nil && q.Preview.Diff != "" {
		rows = v.change(q, o)
	} else {
		rows = v.command(q)
	}
	if hidden {
		rows = append(rows, warning("It contains invisible characters, shown here as ⟨U+…⟩."))
	}
	if words := state.Lookalikes(text); words != nil {
		rows = append(rows, warning("It mixes letters that look alike but are different: "+strings.Join(words, "; ")+"."))
	}
	return rows
}

// labelWidth aligns the texts of the facts in one column.
const labelWidth = 84

func fact(label, text string) fyne.CanvasObject {
	text, _ = state.Reveal(text)
	return labelledRow(label, widgets.NewParagraph(text, style.ColorText, "text"))
}

func labelledRow(label string, o fyne.CanvasObject) fyne.CanvasObject {
	return widgets.NewLabelled(labelWidth, label, o)
}

func warning(text string) fyne.CanvasObject {
	icon := widget.NewIcon(style.IconIn("warning", style.ColorNeedsYou))
	return widgets.WithIcon("text", 0, icon, widgets.NewParagraph(text, style.ColorNeedsYou, "text"))
}

// change shows a change of a file, with a check box for each hunk that can be allowed alone.
func (v *questionView) change(q protocol.Approval, o *options) []fyne.CanvasObject {
	name, _ := state.Reveal(state.QuestionText(q))
	rows := []fyne.CanvasObject{fact("file", name), fact("change", fmt.Sprintf("+%d −%d", q.Preview.Added, q.Preview.Removed))}
	lang := strings.TrimPrefix(path.Ext(name), ".")
	hunks := state.Hunks(q.Preview.Diff)
	if len(hunks) == 0 {
		text, _ := state.Reveal(q.Preview.Diff)
		whole := diff.NewPanel(text)
		whole.SetForward(v.onScroll)
		return append(rows, whole)
	}
	canPick := state.CanPick(q)
	for _, h := range hunks {
		if canPick {
			rows = append(rows, o.hunkCheck(len(hunks)))
		}
		rows = append(rows, diff.NewHunkView(h, lang, v.onScroll))
	}
	return rows
}

// command shows a command with its risky parts underlined, and the parts explained below it.
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
	copyButton := widgets.NewQuietButton("", "copy", func() { v.copyText(state.QuestionText(q)) })
	copyButton.Muted = true
	copyButton.OnKey = v.onKey
	rows := []fyne.CanvasObject{container.NewStack(background, widgets.Border(nil, nil, nil, container.NewVBox(copyButton), text))}
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
	color := widgets.Choose(p.Risky, style.ColorBad, style.ColorMuted)
	icon := style.IconIn(widgets.Choose(p.Risky, "warning", "right"), color)
	line, _ := state.Reveal(p.Text)
	name := &widget.TextSegment{Text: display.Clip(line, 60), Style: widget.RichTextStyle{Inline: true, SizeName: style.SizeSmall, TextStyle: fyne.TextStyle{Monospace: true}}}
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
	return widgets.WithIcon(style.SizeSmall, 0, widget.NewIcon(icon), widgets.WithoutPadding(description))
}
