package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
)

// known is what is known of a machine, a fact a line.
func known(facts []state.MachineFact) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, f := range facts {
		rows = append(rows, fact(f.Name, f.Text))
	}
	return widgets.Col(look.Gap, rows...)
}

// fact is a line: its name at the left, what it is at the right.
func fact(name, text string) fyne.CanvasObject {
	label := widgets.NewText(name, look.ColorMuted, "text")
	label.Ellipsis = true
	return container.New(factLayout{}, label, widgets.NewParagraph(text, look.ColorText, "text"))
}

// factLayout gives the names of facts one width.
type factLayout struct{}

func factWidth() float32 { return 128 * look.Size("text") / 14 }

func (factLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[1].MinSize()
	return fyne.NewSize(factWidth()+m.Width, max(m.Height, o[0].MinSize().Height))
}

func (factLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(fyne.NewSize(factWidth()-look.Inside, o[0].MinSize().Height))
	o[1].Move(fyne.NewPos(factWidth(), 0))
	widgets.Fit(o[1], max(size.Width-factWidth(), 0))
}
