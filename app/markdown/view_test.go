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
		t.Errorf("opened %q", got)
	}
}

func TestMarkdownTakesTheBackslashFromEscapedSignsOnly(t *testing.T) {
	for source, want := range map[string]string{
		`list \*.md, \!now`:   "list *.md, !now",
		`C:\dir and \d`:       `C:\dir and \d`,
		"the code `a\\*b`":    `the code a\*b`,
		`*all \_of\_ it*`:     "all _of_ it",
		`[a \[b\]](http://c)`: "a [b]",
	} {
		t.Run(source, func(t *testing.T) {
			if got := newRichText(parse(source)).PlainText(); got != want {
				t.Errorf("%s shows %q, want %q", source, got, want)
			}
		})
	}
}

func TestMarkdownSurvivesWhatFynesParserPanicsOn(t *testing.T) {
	m := NewView()
	widgettest.Window(t, m, 400, 300)
	for _, text := range []string{"- [ ] **bold**", "- [x] `code`", "- [ ]", "> - [ ] *a*\n> - b", "|a|\n|-|\n", "# ", "![", "[](", "```"} {
		m.SetText(text)
	}
}

func TestMarkdownKeepsTheWidgetsOfSettledBlocks(t *testing.T) {
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
		t.Errorf("copied %q", copied)
	}
}

func findButton(o fyne.CanvasObject, text string) *widgets.Button {
	return widgettest.Find(o, func(b *widgets.Button) bool { return b.Text == text })
}
