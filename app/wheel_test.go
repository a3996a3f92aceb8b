package app

import (
	"testing"

	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
)

func TestWheelScrollsThreeLines(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(style.New(style.Light, 1))
	for n, want := range map[float64]float64{0: 0, 1: 3, -1: -3, 1.5: 4.5, 4: 9, -4: -9, 20: 20, 0.13: 0.13, -0.07: -0.07} {
		if got := wheelSteps(n); got != want {
			t.Errorf("%v steps became %v, want %v", n, got, want)
		}
	}
}
