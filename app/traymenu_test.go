package app

import (
	"testing"

	"fairlead/app/host"
	"fairlead/tray"
)

func TestTrayOpensTheChosenMachine(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.tray.run(tray.Item{Do: tray.ActionMachine, Node: "nas"})
	if u.main.Pages.Title() != machinesTitle || u.main.Pages.At() != host.Target(host.Machine("nas")) {
		t.Errorf("got %q, %v, want the machine nas", u.main.Pages.Title(), u.main.Pages.At())
	}
}
