// Package nodes is the page of the machines: which there are, what they can do, how far they are trusted. Below them are the windows and command lines
// that were let in from elsewhere.
package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Confinement lists how a machine confines commands: what it keeps and by what, what it does not and why.
func Confinement(c state.Confinement) fyne.CanvasObject {
	fact := func(icon string, color fyne.ThemeColorName, text string) fyne.CanvasObject {
		return widgets.Lead("text", 0, widget.NewIcon(style.IconIn(icon, color)), widgets.NewParagraph(text, style.ColorText, "text"))
	}
	rows := []fyne.CanvasObject{widgets.NewParagraph(c.Line, levelColor(c.Level), "text")}
	for _, w := range c.Warnings {
		rows = append(rows, fact("warning", style.ColorNeedsYou, w))
	}
	for _, g := range c.Guarantees {
		if g.Held {
			rows = append(rows, fact("check", style.ColorGood, g.Text))
		} else {
			rows = append(rows, fact("cross", style.ColorBad, g.Text))
		}
	}
	return widgets.Col(style.Gap, rows...)
}

// levelColor is the colour of a sentence that says by itself how good or bad it is.
func levelColor(level string) fyne.ThemeColorName {
	switch level {
	case state.LevelGood:
		return style.ColorGood
	case state.LevelBad:
		return style.ColorBad
	}
	return style.ColorNeedsYou
}
