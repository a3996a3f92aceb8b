//go:build desktop

// Command empty opens a window with one word, to measure the cost of the toolkit itself for
// comparison with the desktop program.
package main

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/widget"
)

func main() {
	a := app.NewWithID("app.fairlead.empty")
	w := a.NewWindow("Empty")
	w.SetContent(widget.NewLabel("empty"))
	w.Resize(fyne.NewSize(1120, 760))
	w.ShowAndRun()
}
