package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// factList lists the facts about a machine, one per line.
func factList(facts []state.MachineFact) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, f := range facts {
		rows = append(rows, fact(f.Name, f.Text))
	}
	return widgets.Col(style.Gap, rows...)
}

// fact is a line: the label at the left, the value at the right.
func fact(name, text string) fyne.CanvasObject {
	label := widgets.NewText(name, style.ColorMuted, "text")
	label.Ellipsis = true
	return container.New(factLayout{}, label, widgets.NewParagraph(text, style.ColorText, "text"))
}

// factLayout gives all labels the same width.
type factLayout struct{}

func factWidth() float32 { return 128 * style.Size("text") / 14 }

func (factLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[1].MinSize()
	return fyne.NewSize(factWidth()+m.Width, max(m.Height, o[0].MinSize().Height))
}

func (factLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(fyne.NewSize(factWidth()-style.Inside, o[0].MinSize().Height))
	o[1].Move(fyne.NewPos(factWidth(), 0))
	widgets.Fit(o[1], max(size.Width-factWidth(), 0))
}
