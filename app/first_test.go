package app

import (
	"testing"

	"fyne.io/fyne/v2/test"

	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestTheFirstPageOffersToJoinAnotherComputer(t *testing.T) {
	u := newTestUI(t)
	u.main.setFirstRun(true)
	for button, want := range map[string]string{
		"Control it from here": "Invite a device", "Let it use this computer": "Name of this computer there",
	} {
		test.Tap(pagetest.Button(t, u.main.first.Box, button))
		pagetest.Shows(t, u.nav.box, "Add a gateway", want)
		if u.main.first.Box.Visible() {
			t.Error("the first page is behind the settings")
		}
		u.nav.close()
		pagetest.Shows(t, u.main.first.Box, button)
	}
	if !u.main.firstRun {
		t.Error("a look at the settings ended the first page")
	}
}

func TestTheFirstPageEndsOnceAModelIsConnected(t *testing.T) {
	u := newTestUI(t)
	u.main.setFirstRun(true)
	v := sample()
	u.update(v)
	if !u.main.firstRun {
		t.Fatal("the built-in operator ended the first page")
	}
	v.Status.Model = protocol.ModelRef{Provider: "ollama", ID: "small"}
	u.update(v)
	if u.main.firstRun {
		t.Error("the first page is still shown")
	}
}
