package app

import (
	"testing"

	"fairlead/app/state"
)

func TestTheTrayOpensTheMachineThatWasChosen(t *testing.T) {
	s := newTestShell(t)
	s.update(sample())
	s.trayDo(state.TrayItem{Do: state.TrayMachine, Node: "nas"})
	if s.pageTitle != machinesTitle || s.machine != "nas" {
		t.Errorf("it opens %q, %q", s.pageTitle, s.machine)
	}
}
