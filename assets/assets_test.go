package assets

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
)

func TestEveryIconIsDrawnWithOneStrokeWidthOnOneGrid(t *testing.T) {
	names := Icons()
	if len(names) < 40 {
		t.Fatalf("only %d icons", len(names))
	}
	for _, name := range names {
		source, err := icons.ReadFile("icons/" + name + ".svg")
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
	for _, name := range Icons() {
		svg := string(Icon(name))
		if strings.Contains(svg, "stroke") || strings.Contains(svg, "NaN") || !strings.Contains(svg, `fill="`+Ink+`"`) {
			t.Errorf("%s: %.200s", name, svg)
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
	for state, name := range []string{"idle", "working", "needs you", "offline", "error"} {
		if TrayState(state) != TrayNeedsYou {
			show(name, Tray(TrayState(state), 0))
		}
	}
	for n := 1; n <= 10; n++ {
		show(string(rune('0'+n)), Tray(TrayNeedsYou, n))
	}
	if !bytes.Equal(Tray(TrayNeedsYou, 10), Tray(TrayNeedsYou, 250)) {
		t.Error("from ten on the badge should read 9+")
	}
}

func TestAppIconIsAPNGOf512Pixels(t *testing.T) {
	c, err := png.DecodeConfig(bytes.NewReader(AppPNG))
	if err != nil || c.Width != 512 || c.Height != 512 {
		t.Fatalf("%v %v", c, err)
	}
}
