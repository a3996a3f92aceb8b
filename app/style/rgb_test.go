package style

import (
	"fmt"
	"testing"
)

func TestAnyTerminalColourIsLegible(t *testing.T) {
	for vname, v := range variants {
		for _, hex := range []string{"000000", "ffffff", "ff0000", "00ff00", "0000ff", "ffff00", "808080", "3a3a3a"} {
			if got := contrast(rgb(t, RGB(hex), v), rgb(t, ColorCode, v)); got < 4.5 {
				t.Errorf("%s: #%s has %.2f:1, want at least 4.5", vname, hex, got)
			}
		}
	}
	if got, want := fmt.Sprint(New(Dark, 1).Color(RGB("5fd7ff"), 0)), "{95 215 255 255}"; got != want {
		t.Errorf("a legible colour became %s, want %s", got, want)
	}
}
