package app

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/settings"
	"fairlead/app/shortcuts"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
)

func TestSettingsOpenOnThePageShownLast(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	page := func() string { return u.backend.Prefs.Get().SettingsPage }
	u.settings.open()
	if got := page(); got != "General" || u.nav.title != settingsTitle {
		t.Errorf("the first time %q opens %q", u.nav.title, got)
	}
	u.settings.openPage("About", nil)
	u.main.open("agent:main:2")
	if u.settings.page != nil {
		t.Fatal("the settings are open beside a chat")
	}
	u.settings.open()
	if got := page(); got != "About" {
		t.Errorf("it opens %q again", got)
	}
	u.settings.openModels()
	if got := page(); got != settings.ModelsTitle {
		t.Errorf("connecting a model opens %q", got)
	}
}

func TestNewsAreShownOnceAfterAnUpdate(t *testing.T) {
	u := newTestUI(t)
	u.settings.about = settings.About{Version: "0.1.0", Changes: "- A"}
	u.settings.showNews()
	if u.settings.page != nil {
		t.Error("a first start shows news")
	}
	u.settings.about.Version = "0.2.0"
	u.settings.showNews()
	if u.settings.page == nil || u.backend.Prefs.Get().SettingsPage != settings.AboutTitle {
		t.Error("an update shows no news")
	}
	u.nav.close()
	u.settings.showNews()
	if u.settings.page != nil {
		t.Error("they are shown again")
	}
}

func TestPagesOfTheSettingsOpenByTheirTitle(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.conversation.Window.Resize(fyne.NewSize(1120, 760))
	for _, title := range []string{"Approvals and rules", "Skills", "Channels", "Tools", "Connected apps", "Help"} {
		u.env().Open(host.Page(title))
		if got := u.backend.Prefs.Get().SettingsPage; u.nav.title != settingsTitle || got != title {
			t.Errorf("%s: got %q in %q; want nav.title %v and %v", title, got, u.nav.title, settingsTitle, title)
		}
		pagetest.Shot(t, u.main.conversation.Window, "settings-"+title)
	}
	u.env().Open(host.Page(shortcuts.Title))
	if u.nav.title != shortcuts.Title {
		t.Errorf("got the page %q, want %q", u.nav.title, shortcuts.Title)
	}
}

func TestSettingsLeadBackToTheLastPlace(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Questions = feed.Questions{} // no dialog
	u.update(v)
	u.main.conversation.Window.Resize(fyne.NewSize(1120, 760))
	for before, open := range map[string]func(){"": func() { u.main.open("agent:main:2") }, transfersTitle: func() { u.nav.openTitled(transfersTitle) }} {
		open()
		u.settings.open()
		if pressEscape(u); u.nav.title != before {
			t.Errorf("Escape shows %q, want %q", u.nav.title, before)
		}
	}
}

func TestNarrowSettingsHaveAWayBackToTheList(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.conversation.Window.Resize(fyne.NewSize(480, 560))
	u.settings.open()
	wayBack := func() *widgets.Button {
		return widgettest.Find(u.nav.box, func(b *widgets.Button) bool { return b.Text == "Back" && b.Visible() })
	}
	if wayBack() != nil {
		t.Error("the list has a way back to itself")
	}
	u.settings.openPage("Skills", nil)
	b := wayBack()
	if b == nil {
		t.Fatal("the page has no way back to the list")
	}
	pagetest.Shot(t, u.main.conversation.Window, "settings-narrow-page")
	u.settings.openPage("Approvals and rules", nil)
	test.Tap(pagetest.Button(t, u.nav.box, "New rule"))
	pagetest.Shot(t, u.main.conversation.Window, "settings-narrow-detail")
	pagetest.Shows(t, u.nav.box, "Working folder")
	if own := widgettest.Find(u.nav.box, func(b *widgets.Button) bool { return b.Text == "All rules" && b.Visible() }); own != nil {
		t.Error("the form has two ways back")
	}
	test.Tap(wayBack())
	test.Tap(pagetest.Button(t, u.nav.box, "New rule")) // of the list of rules
	test.Tap(wayBack())
	test.Tap(wayBack())
	pagetest.Shows(t, u.nav.box, "Search settings", "All settings")
	if wayBack() != nil {
		t.Error("the way back is still shown")
	}
}

func TestLinksOpenSettingsAndInvitations(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	for link, want := range map[string]string{
		"fairlead://settings/notifications": "Notifications", "fairlead://settings/connected-apps": "Connected apps", "fairlead://pair?i=x": "Gateways",
	} {
		u.settings.openLink(link)
		if got := u.backend.Prefs.Get().SettingsPage; got != want || u.nav.title != settingsTitle {
			t.Errorf("%s: got %q in %q, want %q", link, got, u.nav.title, want)
		}
	}
	u.nav.close()
	u.settings.openLink("")
	if u.nav.title != "" {
		t.Errorf("no link opens %q", u.nav.title)
	}
	u = newRemoteUI(t)
	if u.settings.openLink("fairlead://pair?i=x"); u.nav.title != "" {
		t.Error("the window of another computer takes an invitation")
	}
	u.settings.openLink("fairlead://settings/no-such-page")
	pagetest.Shows(t, u.main.body, "The settings have no page “no-such-page”.")
}

func TestHiddenListOfSettingsHasNoFocus(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	w := u.main.conversation.Window
	w.Resize(fyne.NewSize(480, 560))
	u.settings.open()
	if got := w.Canvas().Focused(); got != u.settings.page.Focusable() {
		t.Fatalf("the list has not the focus, but %T", got)
	}
	u.settings.openPage("Skills", nil) // in place of the list
	if got := w.Canvas().Focused(); got != nil {
		t.Errorf("got the focus on %T, want none: a hidden list passes no key to the window", got)
	}
}

func TestKeyOfThePaletteAlsoClosesIt(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	overlays := u.main.conversation.Window.Canvas().Overlays()
	u.nav.openPalette()
	if n := len(overlays.List()); n != 1 {
		t.Fatalf("got %d overlays, want the palette", n)
	}
	u.nav.openPalette()
	if n := len(overlays.List()); n != 0 {
		t.Errorf("got %d overlays after the second press, want none", n)
	}
}
