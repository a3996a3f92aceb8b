package app

import (
	"testing"

	"fairlead/app/settings"
)

func TestSettingsOpenOnThePageShownLast(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	page := func() string { return u.backend.prefs.get().SettingsPage }
	u.settings.open()
	if got := page(); got != settings.ModelsTitle {
		t.Errorf("the first time it opens %q", got)
	}
	u.settings.page.Open("About")
	u.settings.window.Close()
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
	if u.settings.window != nil {
		t.Error("a first start shows news")
	}
	u.settings.about.Version = "0.2.0"
	u.settings.showNews()
	if u.settings.window == nil || u.backend.prefs.get().SettingsPage != settings.WhatsNewTitle {
		t.Error("an update shows no news")
	}
	u.settings.window.Close()
	u.settings.showNews()
	if u.settings.window != nil {
		t.Error("they are shown again")
	}
}

func TestSettingsLinkToPagesOfTheMainWindow(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	for i, want := range []string{"Approvals and rules", "Skills", channelsTitle} {
		h := u.settings.handlers(u.app.NewWindow("Settings"))
		h.Links[i].Open() // closes the window of the settings
		if u.nav.title != want {
			t.Errorf("%s opens %q", h.Links[i].Title, u.nav.title)
		}
	}
	u.nav.close()
}
