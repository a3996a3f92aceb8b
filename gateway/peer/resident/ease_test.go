package resident

import (
	"runtime/debug"
	"testing"
)

func percent() int {
	now := debug.SetGCPercent(-1)
	debug.SetGCPercent(now)
	return now
}

func TestABurstEndsWithItsLastPart(t *testing.T) {
	before := percent()
	a, b := Ease(), Ease()
	if got := percent(); got != eased {
		t.Errorf("during a burst %d", got)
	}
	a()
	a()
	if got := percent(); got != eased {
		t.Errorf("before its last part ends %d", got)
	}
	b()
	if got := percent(); got != before {
		t.Errorf("afterwards %d, before %d", got, before)
	}
}

func TestABurstCollectsNoMoreThanTheProgramWasToldTo(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, told := range []int{-1, 1000} {
		debug.SetGCPercent(told)
		done := Ease()
		if got := percent(); got != told {
			t.Errorf("told %d: during a burst %d", told, got)
		}
		done()
		if got := percent(); got != told {
			t.Errorf("told %d: afterwards %d", told, got)
		}
	}
}
