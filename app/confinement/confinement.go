// Package confinement shows what commands can do on a machine, for the page of machines and the
// settings of this computer.
package confinement

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol/display"
)

// New says what commands can do on a machine, and lists the restrictions that hold or are missing.
func New(c display.Confinement) fyne.CanvasObject {
	return widgets.Col(style.Gap, Summary(c), Guarantees(c))
}

// Summary says what commands can do.
func Summary(c display.Confinement) fyne.CanvasObject {
	icon := widgets.Choose(c.Level == display.LevelGood, "shield", "warning")
	return widgets.NewIconLine(icon, levelColors[c.Level], c.Line)
}

// Guarantees lists warnings, the restrictions that hold, and those that are missing.
func Guarantees(c display.Confinement) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, w := range c.Warnings {
		rows = append(rows, widgets.NewIconLine("warning", style.ColorNeedsYou, w))
	}
	isOpen := false
	for _, g := range c.Guarantees {
		if g.Enforced {
			rows = append(rows, widgets.NewIconLine("check", style.ColorGood, g.Text))
			continue
		}
		if !isOpen {
			isOpen = true
			rows = append(rows, widgets.Inset(style.Inside, 0, 0, 0, widgets.NewText("Not limited here", style.ColorMuted, "text")))
		}
		rows = append(rows, widgets.NewIconLine("warning", style.ColorNeedsYou, g.Text))
	}
	return widgets.Col(style.Gap, rows...)
}

// levelColors are the colours of levels. The icon and the sentence state the level, too.
var levelColors = map[string]fyne.ThemeColorName{
	display.LevelGood: style.ColorGood, display.LevelWarning: style.ColorNeedsYou, display.LevelBad: style.ColorBad,
}
