package widgets

import (
	"bytes"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/font"

	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
)

func TestPlainLettersAreInEachFontThatIsTakenAlone(t *testing.T) {
	for _, r := range []fyne.Resource{theme.DefaultTextBoldFont(), theme.DefaultTextMonospaceFont()} {
		face, err := font.ParseTTF(bytes.NewReader(r.Content()))
		if err != nil {
			t.Fatal(err)
		}
		for c := rune(0); c < 0x20000; c++ {
			if _, ok := face.NominalGlyph(c); isPlainLetter(c) && !ok {
				t.Errorf("%s: got no glyph for %U, want one", r.Name(), c)
			}
		}
	}
}

func TestTextsTakeOneFontOnlyWhenItHasAllTheirLetters(t *testing.T) {
	bold, code := fyne.TextStyle{Bold: true}, fyne.TextStyle{Monospace: true}
	for _, c := range []struct {
		text  string
		style fyne.TextStyle
		want  fyne.Resource
	}{
		{"Fairlead", bold, theme.DefaultTextBoldFont()},
		{"Größe – “ja”…", bold, theme.DefaultTextBoldFont()},
		{"MMMM", code, theme.DefaultTextMonospaceFont()},
		{"rocket 🚀", bold, nil},
		{"a → b", bold, nil},
		{"שלום", bold, nil},
		{"plain", fyne.TextStyle{}, nil},
	} {
		t.Run(c.text, func(t *testing.T) {
			if got := singleFont(c.text, c.style); got != c.want {
				t.Errorf("%q takes %v, want %v", c.text, got, c.want)
			}
		})
	}
}

func TestAHeadingThatChangesItsLettersChangesItsFont(t *testing.T) {
	h := NewHeading("plain", "text")
	widgettest.Window(t, h, 200, 40)
	drawn := test.WidgetRenderer(h).Objects()[0].(*canvas.Text)
	if drawn.FontSource != theme.DefaultTextBoldFont() {
		t.Errorf("plain letters take %v, want %v", drawn.FontSource, theme.DefaultTextBoldFont())
	}
	h.SetText("a 🚀")
	if drawn.FontSource != nil {
		t.Errorf("a picture takes %v", drawn.FontSource)
	}
	b := NewButton("Send", "", nil)
	b.Primary = true
	b.Refresh()
	if r := test.WidgetRenderer(b).(*buttonRenderer); r.text.FontSource != theme.DefaultTextBoldFont() {
		t.Errorf("a button takes %v, want %v", r.text.FontSource, theme.DefaultTextBoldFont())
	}
	if got, want := MeasureText("Fairlead", style.Size("text"), fyne.TextStyle{Bold: true}), fyne.MeasureText("Fairlead", style.Size("text"), fyne.TextStyle{Bold: true}); got != want {
		t.Errorf("alone it measures %v, among others %v", got, want)
	}
}
