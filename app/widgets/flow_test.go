package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
)

func TestResultTakesALineOnlyWhileItIsShown(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(style.New(style.Light, 1))
	control, result := NewRect("", "", 0), NewStatus()
	control.SetMinSize(fyne.NewSize(300, 28))
	row := Col(0, WithResult(control, result))
	height := func() float32 { // in a width that is too small for a result beside the control
		row.Refresh() // as a window does after a change
		return Fit(row, 350)
	}
	if got := height(); got != 28 {
		t.Errorf("without a result: got the height %v, want that of the control", got)
	}
	result.Set("✓ Saved.", style.ColorGood)
	if got := height(); got <= 28 {
		t.Errorf("with a result: got the height %v, want a line more than 28", got)
	}
	result.Set("", style.ColorGood)
	if got := height(); got != 28 {
		t.Errorf("after the result: got the height %v, want 28", got)
	}
}
