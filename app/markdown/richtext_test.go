package markdown

import (
	"image"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/widgets/widgettest"
)

func TestRichTextShowsListsAsTheyAreNested(t *testing.T) {
	p := newRichText(parse("Steps:\n\n9. first\n   - [x] done\n   - [ ] open\n\n     with more\n10. second\n\n> quoted **bold**\n\n---\n\n~~gone~~ and https://example.org/x."))
	widgettest.Window(t, p, 500, 400)
	want := "Steps:\n\n9. first\n  ☑ done\n\n  ☐ open\n\nwith more\n10. second\n\nquoted bold\n\n\n\ngone and https://example.org/x."
	got := p.text.PlainText()
	if squeeze(got) != squeeze(want) {
		t.Errorf("copied: got %q, want %q", got, want)
	}
	var item, inner, quote paragraph
	for _, q := range p.flow.paragraphs {
		switch {
		case q.bullet == "9.":
			item = q
		case q.bullet == "☑":
			inner = q
		case q.quote > 0:
			quote = q
		}
	}
	if inner.indent <= item.indent || item.indent <= 0 || quote.indent <= 0 {
		t.Errorf("item at %g, the one in it at %g, quote at %g", item.indent, inner.indent, quote.indent)
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestRichTextTurnsPlacesIntoTextAndBack(t *testing.T) {
	p := newRichText(parse("One two three four five six seven eight nine ten eleven twelve.\n\nשלום עולם and more"))
	widgettest.Window(t, p, 160, 400)
	for at := range p.text.Runes() {
		for i := range p.flow.placed {
			l := &p.flow.placed[i]
			for _, b := range l.text.Boxes(at-l.offset, at-l.offset+1, p.flow.textWidth(l)) {
				if b.Width < 1 {
					continue
				}
				x := b.X + b.Width*0.25
				if l.text.IsRightToLeft() && at < l.offset+9 {
					x = b.X + b.Width*0.75
				}
				if got := p.Index(fyne.NewPos(l.left+x, l.y+b.Y+b.Height/2)); got != at && got != at+1 {
					t.Errorf("rune %d stands where %d is found", at, got)
				}
			}
		}
	}
}

func TestRightToLeftListsHaveTheirMarkersOnTheRight(t *testing.T) {
	p := newRichText(parse("- אחת\n  - שתיים\n- [ ] שלוש\n- four\n\n> ציטוט\n\n1. אחת"))
	widgettest.Window(t, p, 300, 300)
	p.Resize(fyne.NewSize(300, 300))
	img := p.draw(300, int(p.flow.fullSize.Height)).(*image.RGBA)
	marked := func(l *placedParagraph, from, to float32) bool { // whether anything is drawn there
		for y := int(l.y); y < int(l.y+l.text.Height); y++ {
			for x := int(from); x < int(to); x++ {
				if img.RGBAAt(x, y).A > 0 {
					return true
				}
			}
		}
		return false
	}
	for i := range p.flow.placed {
		l, right := &p.flow.placed[i], p.flow.paragraphs[i].text() != "four"
		if right != (l.right > 0) || right == (l.left > 0) {
			t.Errorf("%q stands in by %g at the left and %g at the right", p.flow.paragraphs[i].text(), l.left, l.right)
		}
		if got := marked(l, 300-l.right, 300); got != right {
			t.Errorf("%q has a mark at the right: %v, want %v", p.flow.paragraphs[i].text(), got, right)
		}
		if got := marked(l, 0, 20); got == right {
			t.Errorf("%q has a mark at the left: %v", p.flow.paragraphs[i].text(), got)
		}
	}
	if a, b := p.flow.placed[0].right, p.flow.placed[1].right; b <= a {
		t.Errorf("an item in an item stands in by %g, the outer one by %g", b, a)
	}
}

func TestRichTextSearchIgnoresCase(t *testing.T) {
	p := newRichText(parse("The *Parser* parses.\n\nA parser."))
	widgettest.Window(t, p, 400, 100)
	if n := p.text.Find("PARSE"); n != 3 {
		t.Errorf("found %d times, want 3", n)
	}
	if n := p.text.Find(""); n != 0 {
		t.Errorf("nothing is found %d times, want 0", n)
	}
}

func TestRichTextMarksWordsAndParagraphs(t *testing.T) {
	p := newRichText(parse("Some words here.\n\nAnd more."))
	widgettest.Window(t, p, 400, 100)
	for at, want := range map[int][2]string{0: {"Some", "Some words here."}, 6: {"words", "Some words here."}, 20: {"And", "And more."}} {
		from, to := p.text.Word(at, false)
		a, b := p.text.Word(at, true)
		if got := [2]string{p.Slice(from, to), p.Slice(a, b)}; got != want {
			t.Errorf("at %d: %q, want %q", at, got, want)
		}
	}
}

func TestRichTextDropsThePictureOfEarlierText(t *testing.T) {
	p := newRichText(parse("before"))
	widgettest.Window(t, p, 300, 60)
	before := test.WidgetRenderer(p).Objects()[0]
	p.set(parse("after"))
	after := test.WidgetRenderer(p).Objects()[0]
	if before == after {
		t.Error("the toolkit may keep the old picture")
	}
	if after.Size().Height != before.Size().Height || after.Position() != before.Position() {
		t.Errorf("the new picture is %v at %v", after.Size(), after.Position())
	}
}
