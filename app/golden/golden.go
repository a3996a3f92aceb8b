// Package golden compares what widgets draw with files under testdata. Only tests import it: it
// defines their -update flag.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/selection"
	"fairlead/app/widgets/widgettest"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Markup compares an object, in the toolkit's markup, with testdata/NAME.xml. With -update it
// writes the file instead.
func Markup(t *testing.T, name string, o fyne.CanvasObject) {
	t.Helper()
	got, path := test.RenderObjectToMarkup(o)+Words(o), filepath.Join("testdata", name+".xml")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s changed; run with -update and read the difference. Now:\n%s", path, got)
	}
}

// Words returns the texts that an object draws as pictures, which the toolkit's markup does not
// contain; one per line.
func Words(o fyne.CanvasObject) string {
	var b strings.Builder
	widgettest.Visit(o, func(o fyne.CanvasObject) {
		if p, ok := o.(selection.Passage); ok {
			b.WriteString(p.Selectable().PlainText() + "\n")
		}
	})
	return b.String()
}
