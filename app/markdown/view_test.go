package markdown

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
)

func TestMarkdownOpensLinksOnlyWhenTappedAndOnlySafeOnes(t *testing.T) {
	var opened []string
	m := NewView()
	m.OnLink = func(u *url.URL) { opened = append(opened, u.String()) }
	widgettest.Window(t, m, 500, 300)
	m.SetText("[ok](https://example.com/a) [mail](mailto:a@b.c) [file](file:///etc/passwd) [js](javascript:alert(1)) ![pic](https://evil.example/x.png)\n\n![ref][r]\n\n[r]: https://evil.example/y.png")
	widgettest.Visit(m, func(o fyne.CanvasObject) {
		if strings.Contains(strings.ToLower(fmt.Sprintf("%T", o)), "image") {
			t.Errorf("a picture is shown: %T", o)
		}
	})
	if len(opened) != 0 {
		t.Fatalf("opened by itself: %v", opened)
	}
	for _, passage := range m.Passages() {
		p := passage.(*RichText)
		for y := range int(p.Size().Height) {
			for x := range int(p.Size().Width) {
				p.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(float32(x), float32(y))}})
				if u := p.hover; u != nil && p.Cursor() == desktop.PointerCursor && !slices.Contains(opened, u.String()) {
					p.Tapped(&fyne.PointEvent{Position: fyne.NewPos(float32(x), float32(y))})
				}
			}
		}
	}
	if got := strings.Join(opened, " "); got != "https://example.com/a mailto:a@b.c https://evil.example/x.png" {
		t.Errorf(`opened: got %q, want "https://example.com/a mailto:a@b.c https://evil.example/x.png"`, got)
	}
}

func TestBackslashIsRemovedFromEscapedCharactersOnly(t *testing.T) {
	for source, want := range map[string]string{
		`list \*.md, \!now`:   "list *.md, !now",
		`C:\dir and \d`:       `C:\dir and \d`,
		"the code `a\\*b`":    `the code a\*b`,
		`*all \_of\_ it*`:     "all _of_ it",
		`[a \[b\]](http://c)`: "a [b]",
	} {
		t.Run(source, func(t *testing.T) {
			if got := newRichText(parse(source)).text.PlainText(); got != want {
				t.Errorf("%s shows %q, want %q", source, got, want)
			}
		})
	}
}

func TestMarkdownSurvivesPanicsOfFynesParser(t *testing.T) {
	m := NewView()
	widgettest.Window(t, m, 400, 300)
	for _, text := range []string{"- [ ] **bold**", "- [x] `code`", "- [ ]", "> - [ ] *a*\n> - b", "|a|\n|-|\n", "# ", "![", "[](", "```"} {
		m.SetText(text)
	}
}

func TestMarkdownKeepsTheWidgetsOfFinishedBlocks(t *testing.T) {
	m := NewView()
	widgettest.Window(t, m, 400, 600)
	m.SetText("First paragraph.\n\n```go\nx := 1\n```\n\nThe tail")
	before := append([]fyne.CanvasObject{}, m.box.Objects...)
	m.SetText("First paragraph.\n\n```go\nx := 1\n```\n\nThe tail grows and grows")
	for i := range 3 {
		if m.box.Objects[i] != before[i] {
			t.Errorf("block %d got another widget", i)
		}
	}
}

func TestCodeBlockCopiesItsCode(t *testing.T) {
	m := NewView()
	copied := ""
	m.OnCopy = func(s string) { copied = s }
	widgettest.Window(t, m, 400, 300)
	m.SetText("```go\nfunc main() {}\n```")
	test.Tap(findButton(m, "Copy"))
	if copied != "func main() {}" {
		t.Errorf(`copied: got %q, want "func main() {}"`, copied)
	}
}

func findButton(o fyne.CanvasObject, text string) *widgets.Button {
	return widgettest.Find(o, func(b *widgets.Button) bool { return b.Text == text })
}

func TestFootnotesAreReadable(t *testing.T) {
	for source, want := range map[string]string{
		"True[^1], and so is this[^12].\n\n[^1]: Source.\n[^12]: Another one, with more words.": "True¹, and so is this¹².\n\n¹ Source.\n\n¹² Another one, with more words.",
		"[^note]: Why.":              "note: Why.",
		"Match `[^1]` and [^a-z].":   "Match [^1] and [^a-z].",
		"$x_i^2 + y_i$ is a formula": "xᵢ² + yᵢ is a formula",
	} {
		p := newRichText(parse(source))
		widgettest.Window(t, p, 500, 400)
		if got := p.text.PlainText(); squeeze(got) != squeeze(want) {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}

func TestTableUsesTheAvailableWidth(t *testing.T) {
	long := strings.Repeat("a long text in a cell ", 12)
	source := "| name | first | second |\n|---|---|---|\n| x | " + long + " | short |\n| y | b | " + long + " |"
	for _, width := range []float32{640, 400} {
		m := NewView()
		w := widgettest.Window(t, m, width, 500)
		m.SetText(source)
		w.Resize(fyne.NewSize(width, 500))
		tab := m.box.Objects[0].(*widgets.Scroller).Content.(*table)
		if got := tab.MinSize().Width; got > width || got < width-4 {
			t.Errorf("at %v the table is %v wide", width, got)
		}
		if name := tab.widths[0]; name > 80 {
			t.Errorf("at %v the short column is %v wide, want at most 80", width, name)
		}
	}
	m := NewView()
	widgettest.Window(t, m, 640, 500)
	m.SetText("| a | b |\n|---|---|\n| 1 | 2 |")
	if got := m.box.Objects[0].(*widgets.Scroller).Content.MinSize().Width; got > 100 {
		t.Errorf("a small table is %v wide, want at most 100", got)
	}
}
