package app

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/native"
	"fairlead/app/settings"
)

// settingsWindow is the window of the settings.
type settingsWindow struct {
	ui     *ui
	about  settings.About
	window fyne.Window    // nil while it is closed
	page   *settings.Page // content of window
}

// saveSize saves the size of the settings window, if it is open.
func (sw *settingsWindow) saveSize() {
	if sw.window != nil {
		size := sw.window.Canvas().Size()
		sw.ui.backend.prefs.update(func(r *preferences) { r.SettingsWidth, r.SettingsHeight = size.Width, size.Height })
	}
}

// open shows the page that was shown last.
func (sw *settingsWindow) open() {
	if sw.window != nil {
		sw.window.Show()
		sw.window.RequestFocus()
		return
	}
	ctx, cancel := context.WithCancel(sw.ui.ctx)
	w := native.NewWindow(sw.ui.app, "Settings – Fairlead", func() {
		cancel()
		sw.saveSize()
		sw.window, sw.page = nil, nil
	})
	last := sw.ui.backend.prefs.get()
	page := settings.New(ctx, sw.ui.backend.state, sw.handlers(w), sw.about, last.SettingsPage)
	w.SetContent(page)
	w.SetPadded(false)
	w.Resize(sizeOr(last.SettingsWidth, last.SettingsHeight, fyne.NewSize(960, 680)))
	register(w, sw.bindings(func() { w.Close() }, page.MoveTab))
	w.CenterOnScreen()
	sw.window, sw.page = w, page
	w.Show()
}

// openModels shows the page where a model is connected.
func (sw *settingsWindow) openModels() {
	sw.open()
	sw.page.Open(settings.ModelsTitle)
}

// showNews shows what is new, once after an update.
func (sw *settingsWindow) showNews() {
	prefs, version := sw.ui.backend.prefs, sw.about.Version
	before := prefs.get().Version
	prefs.update(func(r *preferences) { r.Version = version })
	if before != "" && before != version && sw.about.Changes != "" {
		sw.open()
		sw.page.Open(settings.WhatsNewTitle)
	}
}

// handlers returns the callbacks of the window's pages.
func (sw *settingsWindow) handlers(w fyne.Window) settings.Handlers {
	u := sw.ui
	h := settings.Handlers{
		OpenURL: u.opener.openURL, OpenPath: u.opener.openPath, Copy: u.app.Clipboard().SetContent,
		PickFolder:       func(done func(string)) { u.picker.ChooseFolder(w, "Choose folder", "Choose", done) },
		Shown:            func(title string) { u.backend.prefs.update(func(r *preferences) { r.SettingsPage = title }) },
		TestNotification: u.notes.showTest,
		Machines: func() {
			w.Close()
			u.main.show()
			u.nav.openMachine("")
		},
	}
	pages := fixedPages{u, u.nav}
	for _, p := range []page{pages.rules(), pages.skills(), pages.channels(), pages.tools(), pages.apps()} {
		h.Links = append(h.Links, settings.Link{Icon: p.icon, Title: p.title, Open: func() {
			w.Close()
			u.main.show()
			u.nav.open(p)
		}})
	}
	if u.backend.flags.join == "" {
		h.Local, h.Gateways = local{u.backend}.settings(), u.backend.remote
		h.Paired = u.main.endFirstRun
	}
	return h
}

// find shows the settings that contain each word of a query.
func (sw *settingsWindow) find(query string) {
	sw.open()
	sw.page.Find(query)
}

// openJoin shows the form that joins another gateway, as a machine of it or to control it.
func (sw *settingsWindow) openJoin(asMachine bool) {
	sw.open()
	if field := sw.page.Join(asMachine); field != nil {
		sw.window.Canvas().Focus(field)
	}
}

// openInvitation shows a pairing invitation, if there is one, for the person to accept.
func (sw *settingsWindow) openInvitation(link string) {
	if link == "" || sw.ui.backend.flags.join != "" {
		return
	}
	sw.open()
	sw.page.Invite(link)
}
