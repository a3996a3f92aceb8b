package assets

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the outlines in icons/")

// names lists the icons of the windows, without the tray's.
func names(t *testing.T) (list []string) {
	files, err := filepath.Glob("source/*.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".svg"); !strings.HasPrefix(name, "tray-") {
			list = append(list, name)
		}
	}
	return list
}

func TestIconsAreTheOutlinesOfTheirDrawings(t *testing.T) {
	sources, _ := filepath.Glob("source/*.svg")
	outlines, _ := filepath.Glob("icons/*.svg")
	if len(sources) != len(outlines) {
		t.Errorf("%d drawings, %d outlines", len(sources), len(outlines))
	}
	for _, f := range sources {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("icons", filepath.Base(f))
		if *update {
			if err := os.WriteFile(path, outline(source), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, outline(source)) {
			t.Errorf("%s is outdated, run with -update: %v; want no error", path, err)
		}
	}
}

func TestEveryIconIsDrawnWithOneStrokeWidthOnOneGrid(t *testing.T) {
	if len(names(t)) < 40 {
		t.Fatalf("only %d icons, want at least 40", len(names(t)))
	}
	for _, name := range names(t) {
		source, err := os.ReadFile("source/" + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(source, []byte(`viewBox="0 0 24 24"`)) {
			t.Errorf("%s: another grid than 24", name)
		}
		if n, w := bytes.Count(source, []byte("stroke=")), bytes.Count(source, []byte(`stroke-width="2"`)); n != w || n == 0 {
			t.Errorf("%s: %d strokes, %d of them two wide", name, n, w)
		}
	}
}

func TestIconsHaveOnlyFilledOutlinesInInk(t *testing.T) {
	for _, name := range names(t) {
		svg := string(Icon(name))
		if strings.Contains(svg, "stroke") || strings.Contains(svg, "NaN") || !strings.Contains(svg, `fill="`+Ink+`"`) {
			t.Errorf(`%s: got %.200s; want no "stroke", no "NaN" and %q in it`, name, svg, `fill="`+Ink+`"`)
		}
	}
}

func TestTrayStatesLookDifferent(t *testing.T) {
	seen := map[string]string{}
	show := func(name string, svg []byte) {
		if other, ok := seen[string(svg)]; ok {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[string(svg)] = name
	}
	for _, state := range []TrayState{TrayIdle, TrayWorking, TrayOffline, TrayError, TrayPaused} {
		show(string(state), Tray(state, 0))
	}
	for n := 1; n <= 10; n++ {
		show(string(rune('0'+n)), Tray(TrayNeedsYou, n))
	}
	for _, state := range []TrayState{TrayIdle, TrayNeedsYou, TrayError} {
		show(string(state)+" with a mark", WithMark(Tray(state, 1)))
	}
	if !bytes.Equal(Tray(TrayNeedsYou, 10), Tray(TrayNeedsYou, 250)) {
		t.Error("from ten on the badge should read 9+")
	}
}

func TestAppIconIsAPNGOf512Pixels(t *testing.T) {
	c, err := png.DecodeConfig(bytes.NewReader(AppPNG))
	if err != nil || c.Width != 512 || c.Height != 512 {
		t.Fatalf("got %v %v; want no error, Width 512 and Height 512", c, err)
	}
}
