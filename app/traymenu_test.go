package app

import (
	"testing"

	"fairlead/tray"
)

func TestTheTrayOpensTheMachineThatWasChosen(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.runTrayItem(tray.Item{Do: tray.ActionMachine, Node: "nas"})
	if u.nav.title != machinesTitle || u.nav.machineID != "nas" {
		t.Errorf("it opens %q, %q", u.nav.title, u.nav.machineID)
	}
}
