package app

import (
	"testing"

	"fairlead/app/host"
	"fairlead/tray"
)

func TestTrayOpensTheChosenMachine(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.runTrayItem(tray.Item{Do: tray.ActionMachine, Node: "nas"})
	if u.nav.title != machinesTitle || u.nav.at != host.Target(host.Machine("nas")) {
		t.Errorf("got %q, %v, want the machine nas", u.nav.title, u.nav.at)
	}
}
