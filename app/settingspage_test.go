package app

import (
	"slices"
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
	u.env(nil).Open(host.Settings)
	if got := page(); got != "General" || u.main.Pages.Title() != settingsTitle {
		t.Errorf(`the first time %q opens %q; want %q and "General"`, u.main.Pages.Title(), got, settingsTitle)
	}
	u.places.nav.open("About", nil)
	u.main.Open("agent:main:2")
	if u.main.Pages.Title() == settingsTitle {
		t.Fatal("the settings are open beside a chat")
	}
	u.env(nil).Open(host.Settings)
	if got := page(); got != "About" {
		t.Errorf("it opens %q again", got)
	}
	u.env(nil).Open(host.Page(settings.ModelsTitle))
	if got := page(); got != settings.ModelsTitle {
		t.Errorf("connecting a model opens %q, want %q", got, settings.ModelsTitle)
	}
}

func TestEveryPageOfTheSettingsIsDescribedInTheSearch(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Chat.Window.Resize(fyne.NewSize(1120, 760))
	for _, e := range u.pages.ofSettings() {
		u.env(nil).Open(host.Settings)
		field := widgettest.Find(u.main.Pages.Page().Content(), func(f *widgets.SearchField) bool { return f.PlaceHolder == "Search settings" })
		field.SetText(e.Title)
		list := widgettest.Find(u.main.Pages.Page().Content(), func(l *widgets.RowList) bool { return l.Visible() })
		if i := slices.IndexFunc(list.Rows(), func(r widgets.ListRow) bool { return r.ID == e.Title+" " }); i >= 0 {
			t.Errorf("%s has no description", e.Title)
		}
		field.SetText("")
	}
}

func TestNewsAreShownOnceAfterAnUpdate(t *testing.T) {
	u := newTestUI(t)
	u.pages.about = settings.About{Version: "0.1.0", Changes: "- A"}
	u.pages.showNews()
	if u.main.Pages.Title() == settingsTitle {
		t.Error("a first start shows news")
	}
	u.pages.about.Version = "0.2.0"
	u.pages.showNews()
	if u.main.Pages.Title() != settingsTitle || u.backend.Prefs.Get().SettingsPage != settings.AboutTitle {
		t.Error("an update shows no news")
	}
	u.main.Pages.Close()
	u.pages.showNews()
	if u.main.Pages.Title() == settingsTitle {
		t.Error("they are shown again")
	}
}

func TestPagesOfTheSettingsOpenByTheirTitle(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Chat.Window.Resize(fyne.NewSize(1120, 760))
	for _, title := range []string{"Approvals and rules", "Skills", "Channels", "Tools", "Connected apps", "Help"} {
		u.env(nil).Open(host.Page(title))
		if got := u.backend.Prefs.Get().SettingsPage; u.main.Pages.Title() != settingsTitle || got != title {
			t.Errorf("%s: got %q in %q; want it in %q", title, got, u.main.Pages.Title(), settingsTitle)
		}
		pagetest.Shot(t, u.main.Chat.Window, "settings-"+title)
	}
	u.env(nil).Open(host.Page(shortcuts.Title))
	if u.main.Pages.Title() != shortcuts.Title {
		t.Errorf("got the page %q, want %q", u.main.Pages.Title(), shortcuts.Title)
	}
}

func TestSettingsLeadBackToTheLastPlace(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Questions = feed.Questions{} // no dialog
	u.update(v)
	u.main.Chat.Window.Resize(fyne.NewSize(1120, 760))
	for before, open := range map[string]func(){"": func() { u.main.Open("agent:main:2") }, transfersTitle: func() { u.places.nav.open(transfersTitle, nil) }} {
		open()
		u.env(nil).Open(host.Settings)
		if pressEscape(u); u.main.Pages.Title() != before {
			t.Errorf("Escape shows %q, want %q", u.main.Pages.Title(), before)
		}
	}
}

func TestNarrowSettingsHaveAWayBackToTheList(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Chat.Window.Resize(fyne.NewSize(480, 560))
	u.env(nil).Open(host.Settings)
	wayBack := func() *widgets.Button {
		return widgettest.Find(u.main.Chat.Window.Content(), func(b *widgets.Button) bool { return b.Text == "Back" && b.Visible() })
	}
	if wayBack() != nil {
		t.Error("the list has a way back to itself")
	}
	u.places.nav.open("Skills", nil)
	b := wayBack()
	if b == nil {
		t.Fatal("the page has no way back to the list")
	}
	pagetest.Shot(t, u.main.Chat.Window, "settings-narrow-page")
	u.places.nav.open("Approvals and rules", nil)
	test.Tap(pagetest.Button(t, u.main.Pages.Page().Content(), "New rule"))
	pagetest.Shot(t, u.main.Chat.Window, "settings-narrow-detail")
	pagetest.Shows(t, u.main.Pages.Page().Content(), "Working folder")
	if own := widgettest.Find(u.main.Chat.Window.Content(), func(b *widgets.Button) bool { return b.Text == "All rules" && b.Visible() }); own != nil {
		t.Error("the form has two ways back")
	}
	test.Tap(wayBack())
	test.Tap(pagetest.Button(t, u.main.Pages.Page().Content(), "New rule")) // of the list of rules
	test.Tap(wayBack())
	test.Tap(wayBack())
	pagetest.Shows(t, u.main.Pages.Page().Content(), "Search settings", "All settings")
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
		u.openLink(link)
		if got := u.backend.Prefs.Get().SettingsPage; got != want || u.main.Pages.Title() != settingsTitle {
			t.Errorf("%s: got %q in %q, want %q", link, got, u.main.Pages.Title(), want)
		}
	}
	u.main.Pages.Close()
	u.openLink("")
	if u.main.Pages.Title() != "" {
		t.Errorf("no link opens %q, want nothing", u.main.Pages.Title())
	}
	u = newRemoteUI(t)
	if u.openLink("fairlead://pair?i=x"); u.main.Pages.Title() != "" {
		t.Error("the window of another computer takes an invitation")
	}
	u.openLink("fairlead://settings/no-such-page")
	pagetest.Shows(t, u.main.Chat.Window.Content(), "The settings have no page “no-such-page”.")
}

func TestHiddenListOfSettingsHasNoFocus(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.places.questions.window.Close() // the test driver treats the last window as the window of every object
	w := u.main.Chat.Window
	w.Resize(fyne.NewSize(480, 560))
	u.env(nil).Open(host.Settings)
	if got, ok := w.Canvas().Focused().(*widgets.RowList); !ok || got == u.main.Sidebar.List {
		t.Fatalf("the list of the settings has not the focus, but %T", w.Canvas().Focused())
	}
	u.places.nav.open("Skills", nil) // in place of the list
	if got := w.Canvas().Focused(); got != nil {
		t.Errorf("got the focus on %T, want none: a hidden list passes no key to the window", got)
	}
}

// The toolkit knows the window of a page only once it is painted; the test driver finds another
// window.
func TestFormInPlaceOfTheSettingsLeavesTheKeysToTheWindow(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	w := u.main.Chat.Window
	w.Resize(fyne.NewSize(480, 560))
	another := test.NewWindow(nil)
	defer another.Close()
	u.env(nil).Open(host.New("Approvals and rules"))
	if got := w.Canvas().Focused(); got != nil {
		t.Errorf("got the focus on %T, want none", got)
	}
}

func TestReplacedPageOfTheSettingsHasNoFocus(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	w := u.main.Chat.Window
	w.Resize(fyne.NewSize(1120, 760))
	u.env(nil).Open(host.New("Approvals and rules"))
	w.Canvas().Focus(widgettest.Find(w.Content(), func(e *widgets.Entry) bool { return e.PlaceHolder == "Any folder" }))
	another := test.NewWindow(nil)
	defer another.Close()
	u.env(nil).Open(host.New("Tools"))
	if got := w.Canvas().Focused(); got != nil {
		t.Errorf("got the focus on %T, want none: it is no longer shown", got)
	}
}

func TestKeyOfThePaletteAlsoClosesIt(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	overlays := u.main.Chat.Window.Canvas().Overlays()
	u.env(nil).Open(host.Palette{})
	if n := len(overlays.List()); n != 1 {
		t.Fatalf("got %d overlays, want the palette", n)
	}
	u.env(nil).Open(host.Palette{})
	if n := len(overlays.List()); n != 0 {
		t.Errorf("got %d overlays after the second press, want none", n)
	}
}
