package code

import (
	"strings"
	"testing"

	"fairlead/app/widgets/widgettest"
)

func TestReaderFindsAndCopies(t *testing.T) {
	text := strings.Repeat("line\n", 3000) + "the needle\n" + strings.Repeat("line\n", 10) + "a Needle\n"
	r := NewReader(PlainLines(text), "3,012 lines")
	widgettest.Window(t, r, 500, 400)
	if m := r.MinSize(); m.Height > 400 || m.Width > 480 {
		t.Errorf("it needs %v", m)
	}
	view := r.panel.View()
	r.field.SetText("needle")
	if at, _ := view.VisibleArea(); r.count.Text != "1 of 2" || at.Y == 0 {
		t.Errorf("found %q, at %v", r.count.Text, at)
	}
	for _, want := range []string{"2 of 2", "1 of 2"} {
		if r.field.OnChoose(); r.count.Text != want {
			t.Errorf("found %q, want %q", r.count.Text, want)
		}
	}
	r.field.SetText("nothing")
	if r.count.Text != "Not found" {
		t.Errorf(`found: got %q, want "Not found"`, r.count.Text)
	}
	r.press(view, strings.Index(text, "needle"), 2)
	if got := r.Selected(); got != "needle" {
		t.Errorf(`selected: got %q, want "needle"`, got)
	}
	r.panel.SetWrap(true)
	r.panel.SetWrap(false)
	if view.text.PlainText() != strings.TrimSuffix(text, "\n") {
		t.Error("wrapping changed the text")
	}
}
