package approve

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// questionView creates the content of the dialog for an approval.
type questionView struct {
	machines *style.Machines
	copyText func(string) // copies to the clipboard; nil hides the button
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
	rows = append(rows, fact("why asked", q.Why))
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
	switch {
	case state.NotConfined(q):
		rows = append(rows, labelled("sandbox", warning("not enforced on this machine: the command can do everything you can")))
	case state.PartlyConfined(q):
		rows = append(rows, labelled("sandbox", warning(protocol.DescribeSandbox(q.Sandbox, q.Host))))
	case q.Sandbox != "":
		rows = append(rows, fact("sandbox", protocol.DescribeSandbox(q.Sandbox, q.Host)))
	}
	switch files := state.FilesText(q); {
	case files == "":
	case state.FilesLoose(q):
		rows = append(rows, labelled("your rules", warning(files)))
	default:
		rows = append(rows, fact("your rules", files))
	}
	if words, open := state.NetworkWords(q); open {
		rows = append(rows, labelled("network", warning(words)))
	} else if words != "" {
		rows = append(rows, fact("network", words))
	}
	return rows
}

// machine shows the machine's name in the machine's colour.
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
	return labelled(label, widgets.NewParagraph(text, style.ColorText, "text"))
}

func labelled(label string, o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(factLayout{}, widgets.NewText(label, style.ColorMuted, "text"), o)
}

func warning(text string) fyne.CanvasObject {
	icon := widget.NewIcon(style.IconIn("warning", style.ColorNeedsYou))
	return widgets.WithIcon("text", 0, icon, widgets.NewParagraph(text, style.ColorNeedsYou, "text"))
}

// factLayout puts a label of fixed width before a wrapping text.
type factLayout struct{}

func (factLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(labelWidth+120, max(o[0].MinSize().Height, o[1].MinSize().Height))
}

func (factLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(fyne.NewSize(labelWidth, o[0].MinSize().Height))
	o[1].Move(fyne.NewPos(labelWidth, 0))
	o[1].Resize(fyne.NewSize(size.Width-labelWidth, size.Height))
}
