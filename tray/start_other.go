//go:build !linux

package tray

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/systray"
)

// start makes the toolkit show the icon, without a menu of its own, until the program ends.
func start(_ context.Context, app desktop.App, w fyne.Window) {
	app.SetSystemTrayWindow(w)
	systray.SetOnTapped(nil) // a click on the icon opens the menu
}
