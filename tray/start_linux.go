package tray

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/systray"

	"fairlead/gateway/peer/crash"
)

// start shows the icon until ctx ends. The toolkit would also create a hidden window, which on other
// systems notices that the program shall end. Without a graphics processor, it takes 8 MB beside
// the main window, and 15 MB while that is closed.
func start(ctx context.Context, _ desktop.App, _ fyne.Window) {
	show, remove := systray.RunWithExternalLoop(nil, nil)
	systray.SetTitle("Fairlead") // some panels need one
	show()
	crash.WhenDone(ctx, remove)
}
