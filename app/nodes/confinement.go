// Package nodes is the page of machines: their state, their tools and their permissions. Below them
// it lists the paired windows and command lines.
package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Confinement lists a machine's restrictions of commands: the enforced ones with their mechanism,
// the others with the reason.
func Confinement(c state.Confinement) fyne.CanvasObject {
	fact := func(icon string, color fyne.ThemeColorName, text string) fyne.CanvasObject {
		return widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(icon, color)), widgets.NewParagraph(text, style.ColorText, "text"))
	}
	rows := []fyne.CanvasObject{widgets.NewParagraph(c.Line, levelColor(c.Level), "text")}
	for _, w := range c.Warnings {
		rows = append(rows, fact("warning", style.ColorNeedsYou, w))
	}
	for _, g := range c.Guarantees {
		if g.Enforced {
			rows = append(rows, fact("check", style.ColorGood, g.Text))
		} else {
			rows = append(rows, fact("cross", style.ColorBad, g.Text))
		}
	}
	return widgets.Col(style.Gap, rows...)
}

// levelColor returns the colour of a level. The sentence itself also states the level.
func levelColor(level string) fyne.ThemeColorName {
	switch level {
	case state.LevelGood:
		return style.ColorGood
	case state.LevelBad:
		return style.ColorBad
	}
	return style.ColorNeedsYou
}
