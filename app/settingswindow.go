package app

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/settings"
	"fairlead/gateway"
)

// settingsWindow is the window of the settings.
type settingsWindow struct {
	ui     *ui
	window fyne.Window        // nil while it is closed
	invite func(link string)  // shows an invitation
	find   func(query string) // searches
}

// saveSize saves the size of the settings window, if it is open.
func (sw *settingsWindow) saveSize() {
	if sw.window != nil {
		size := sw.window.Canvas().Size()
		sw.ui.backend.prefs.update(func(r *preferences) { r.SettingsWidth, r.SettingsHeight = size.Width, size.Height })
	}
}

func (sw *settingsWindow) open() {
	if sw.window != nil {
		sw.window.Show()
		sw.window.RequestFocus()
		return
	}
	w := sw.ui.app.NewWindow("Settings – Fairlead")
	ctx, cancel := context.WithCancel(sw.ui.ctx)
	h := settings.Handlers{
		OpenURL: sw.ui.opener.openURL, OpenPath: sw.ui.opener.openPath, Copy: sw.ui.app.Clipboard().SetContent,
		PickFolder: func(done func(string)) { pickFolder(w, done) },
	}
	if sw.ui.backend.flags.join == "" {
		h.Local, h.Gateways = local{sw.ui.backend}.settings(), sw.ui.backend.remote
	}
	page := settings.New(ctx, sw.ui.backend.state, h, gateway.Version)
	w.SetContent(page)
	w.SetPadded(false)
	last := sw.ui.backend.prefs.get()
	w.Resize(sizeOr(last.SettingsWidth, last.SettingsHeight, fyne.NewSize(860, 640)))
	w.SetOnClosed(func() {
		cancel()
		sw.saveSize()
		sw.window = nil
	})
	shortcut(w, fyne.KeyW, func() { w.Close() })
	shortcut(w, fyne.KeyQ, sw.ui.quit)
	for key, by := range map[fyne.KeyName]int{fyne.KeyPageDown: 1, fyne.KeyPageUp: -1, fyne.KeyTab: 1} {
		shortcut(w, key, func() { page.MoveTab(by) })
	}
	w.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyTab, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, func(fyne.Shortcut) { page.MoveTab(-1) })
	w.CenterOnScreen()
	sw.window, sw.invite, sw.find = w, page.Invite, page.Find
	w.Show()
}

// openInvitation shows a pairing invitation, if there is one, for the person to accept.
func (sw *settingsWindow) openInvitation(link string) {
	if link == "" || sw.ui.backend.flags.join != "" {
		return
	}
	sw.open()
	sw.invite(link)
}
