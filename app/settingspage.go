package app

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/preferences"
	"fairlead/app/settings"
)

// settingsPage opens the settings in the main window.
type settingsPage struct {
	ui    *ui
	about settings.About
	at    host.Target    // of the page that is being opened
	page  *settings.Page // nil while another page or a chat is shown

	pairing *settings.Pairing // with another gateway, also while another page is shown
}

// open shows the settings, with the page that was shown last.
func (s *settingsPage) open() {
	u := s.ui
	u.main.show()
	if s.page != nil {
		return
	}
	leave := u.nav.wayBack()
	u.nav.open(page{"settings", settingsTitle, func(ctx context.Context, _ host.Target) (fyne.CanvasObject, func() bool) {
		p := settings.New(ctx, u.env(), s.options(leave), u.backend.Prefs.Get().SettingsPage)
		s.page = p
		return p, p.Back
	}})
	u.main.conversation.Window.Canvas().Focus(s.page.Focusable())
}

// openPage shows the page of the settings with a title, at a target.
func (s *settingsPage) openPage(title string, at host.Target) {
	s.at = at
	s.open()
	s.page.Open(title)
	s.at = nil
}

// openModels shows the page where a model is connected.
func (s *settingsPage) openModels() { s.openPage(settings.ModelsTitle, nil) }

// showNews shows what is new, once after an update.
func (s *settingsPage) showNews() {
	prefs, version := s.ui.backend.Prefs, s.about.Version
	before := prefs.Get().Version
	prefs.Update(func(r *preferences.Preferences) { r.Version = version })
	if before != "" && before != version && s.about.Changes != "" {
		s.open()
		s.page.ShowNews()
	}
}

// options returns what the settings need besides the gateway.
func (s *settingsPage) options(leave func()) settings.Options {
	u := s.ui
	o := settings.Options{
		About: s.about, Pages: (fixedPages{u, u.nav}).settings(), TestNotification: u.notes.ShowTest, Shown: s.followPage, Leave: leave,
	}
	if !u.backend.IsRemote() {
		o.Local, o.Gateways = u.backend.Local(), u.backend.Gateways
		o.Paired, o.Pairing = u.main.endFirstRun, s.pairing
	}
	return o
}

// followPage remembers the page, and shows the way back to the list where the page stands in its
// place.
func (s *settingsPage) followPage(title string, inPlaceOfList bool) {
	s.ui.backend.Prefs.Update(func(r *preferences.Preferences) { r.SettingsPage = title })
	s.ui.nav.showWayBack(inPlaceOfList)
	// A hidden list would get the keys, and pass them to no window.
	if c := s.ui.main.conversation.Window.Canvas(); s.page != nil && inPlaceOfList && c.Focused() == s.page.Focusable() {
		c.Unfocus()
	}
}

// find shows the settings that contain each word of a query.
func (s *settingsPage) find(query string) {
	s.open()
	s.page.Find(query)
}

// openJoin shows the form that joins another gateway, as a machine of it or to control it.
func (s *settingsPage) openJoin(asMachine bool) {
	s.open()
	s.page.Join(asMachine)
}

// openLink obeys a fairlead:// link, if there is one: it shows a page of the settings, or a pairing
// invitation for the person to accept.
func (s *settingsPage) openLink(link string) {
	name, isPage := settings.ParseLink(link)
	switch {
	case link == "":
	case isPage:
		s.open()
		s.page.OpenLink(name)
	case !s.ui.backend.IsRemote():
		s.open()
		s.page.Invite(link)
	}
}

// moveTab opens the next page of the settings, or with -1 the one before, if they are shown.
func (s *settingsPage) moveTab(by int) func() {
	return func() {
		if s.page != nil {
			s.page.MoveTab(by)
		}
	}
}
