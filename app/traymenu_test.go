package app

import (
	"testing"

	"fairlead/app/state"
)

func TestTheTrayOpensTheMachineThatWasChosen(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.runTrayItem(state.TrayItem{Do: state.TrayMachine, Node: "nas"})
	if u.nav.title != machinesTitle || u.nav.machineID != "nas" {
		t.Errorf("it opens %q, %q", u.nav.title, u.nav.machineID)
	}
}
