package pagetest

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

func TestShotShowsRectanglesWithoutColour(t *testing.T) {
	t.Setenv("FAIRLEAD_SHOTS", t.TempDir())
	Start(t, style.Light)
	Shot(t, Window(t, widgets.NewRect("", "", 0), 40, 30), "empty")
	f, err := os.Open(filepath.Join(os.Getenv("FAIRLEAD_SHOTS"), "empty.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if pic, err := png.DecodeConfig(f); err != nil || pic.Width != 40 || pic.Height != 30 {
		t.Errorf("got a picture of %dx%d, %v, want 40x30", pic.Width, pic.Height, err)
	}
}
