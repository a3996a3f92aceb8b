package app

import (
	"testing"

	"fyne.io/fyne/v2/test"

	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestTheFirstPageOffersToJoinAnotherComputer(t *testing.T) {
	u := newTestUI(t)
	u.main.SetFirstRun(true)
	for button, want := range map[string]string{
		"Control it from here": "Invite a device", "Let it use this computer": "Name of this computer there",
	} {
		test.Tap(pagetest.Button(t, u.main.Chat.Window.Content(), button))
		pagetest.Shows(t, u.main.Pages.Page().Content(), "Add a gateway", want)
		if pagetest.VisibleButton(u.main.Chat.Window.Content(), "Start now") != nil {
			t.Error("the first page is behind the settings")
		}
		u.main.Pages.Close()
		pagetest.Shows(t, u.main.Chat.Window.Content(), button)
	}
	if !u.main.IsFirstRun() {
		t.Error("a look at the settings ended the first page")
	}
}

func TestTheFirstPageEndsOnceAModelIsConnected(t *testing.T) {
	u := newTestUI(t)
	u.main.SetFirstRun(true)
	v := sample()
	u.update(v)
	if !u.main.IsFirstRun() {
		t.Fatal("the built-in operator ended the first page")
	}
	v.Status.Model = protocol.ModelRef{Provider: "ollama", ID: "small"}
	u.update(v)
	if u.main.IsFirstRun() {
		t.Error("the first page is still shown")
	}
}
