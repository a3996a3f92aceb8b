package typeset

import (
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/go-text/typesetting/fontscan"
)

// checkPositions fails when a rune of a text has no position or several. Line ends have none.
func checkPositions(t *testing.T, l *Text) {
	t.Helper()
	seen := make([]bool, l.Runes())
	for _, line := range l.lines {
		for _, p := range line.parts {
			for i := p.from; i < p.to; i++ {
				if seen[i] {
					t.Fatalf("rune %d of %q stands twice", i, string(l.runes))
				}
				seen[i] = true
			}
		}
	}
	for i, ok := range seen {
		if !ok && l.runes[i] != '\n' {
			t.Fatalf("rune %d of %q is nowhere at width %g", i, string(l.runes), l.Width)
		}
	}
}

func lay(text string, width float32) *Text {
	return LayOut([]Run{{Text: text, Style: Style{Size: 14}}}, width, 1.45)
}

func TestLinesAreNoWiderThanAskedAndLoseNothing(t *testing.T) {
	text := "The quick brown fox jumps over the lazy dog. 千と千尋の神隠しという映画を見ました。" + strings.Repeat("long", 40) + " שלום עולם"
	for _, width := range []float32{40, 90, 200, 500} {
		l := lay(text, width)
		if l.Width > width+1 {
			t.Errorf("%g wide, %g asked for", l.Width, width)
		}
		checkPositions(t, l)
	}
}

func TestLinesHaveTheHeightOfTheirLetters(t *testing.T) {
	if l := lay("one\n\nthree", 0); len(l.lines) != 3 || l.Height != 60 {
		t.Errorf("%d lines, %g high; want 3 and 60", len(l.lines), l.Height)
	}
	if l := LayOut([]Run{{Text: "big ", Style: Style{Size: 20, Bold: true}}, {Text: "and small", Style: Style{Size: 14}}}, 0, 1.45); l.Height != 29 {
		t.Errorf("%g high, want 29", l.Height)
	}
	if l := LayOut(nil, 100, 1.45); l.Runes() != 0 || l.Height == 0 {
		t.Errorf("nothing is %g high", l.Height)
	}
}

func TestRightToLeftTextIsAlignedRight(t *testing.T) {
	l := lay("שלום abc", 300)
	if !l.IsRightToLeft() {
		t.Fatal("it begins at the left")
	}
	boxes := l.Boxes(0, 1, 300)
	if len(boxes) != 1 || boxes[0].X+boxes[0].Width < 299 {
		t.Errorf("its first letter is at %v", boxes)
	}
	if abc := l.Boxes(5, 8, 300); len(abc) != 1 || abc[0].X > boxes[0].X {
		t.Errorf("what follows is at %v", abc)
	}
	if at := l.Index(299, 5, 300); at != 0 {
		t.Errorf("the right end is place %d, want 0", at)
	}
}

func TestPlacesAndBoxesAgree(t *testing.T) {
	l := lay("The quick brown fox jumps over the lazy dog.", 120)
	for i := range l.Runes() {
		for _, b := range l.Boxes(i, i+1, 120) {
			if b.Width < 0.5 {
				continue
			}
			if at := l.Index(b.X+b.Width*0.3, b.Y+1, 120); at != i {
				t.Errorf("rune %d is found as %d", i, at)
			}
			if at := l.Index(b.X+b.Width*0.7, b.Y+1, 120); at != i+1 {
				t.Errorf("behind rune %d is found as %d, want %d", i, at, i+1)
			}
		}
	}
	if l.Index(500, 500, 120) != l.Runes() || l.Index(-5, -5, 120) != 0 {
		t.Error("outside is not the beginning and the end")
	}
}

func TestLettersAreDrawnWhereTheirBoxesAre(t *testing.T) {
	l := lay("I  I", 0)
	img := image.NewRGBA(image.Rect(0, 0, 60, 40))
	l.Draw(img, 0, 0, 2, 0, func(int) color.Color { return color.NRGBA{R: 200, A: 255} })
	for i := range 4 {
		b := l.Boxes(i, i+1, 0)[0]
		ink := 0
		for y := range 40 {
			for x := int(b.X * 2); x < int((b.X+b.Width)*2); x++ {
				if img.RGBAAt(x, y).A > 128 {
					ink++
				}
			}
		}
		if letter := i == 0 || i == 3; letter != (ink > 10) {
			t.Errorf("rune %d has %d dots of ink", i, ink)
		}
	}
}

func TestSpacesAfterSignsAreAsWideAsElsewhere(t *testing.T) {
	l := lay("a b → c", 0)
	if a, b := l.Boxes(1, 2, 0)[0].Width, l.Boxes(5, 6, 0)[0].Width; a != b {
		t.Errorf("spaces are %g and %g wide", a, b)
	}
}

func TestLettersOfOtherScriptsAreNotThoseOfCode(t *testing.T) {
	f := facesFor(Style{Size: 14})
	letter := f.ResolveFace('ع')
	if system := f.find('ع'); system != nil && letter == f.signs {
		t.Error("an Arabic letter is one of the font for code, although the system has it")
	} else if system == nil && letter != f.signs {
		t.Error("an Arabic letter that only the font for code has is not shown")
	}
}

func TestLettersThatNoFontHasAreNotLookedForOneByOne(t *testing.T) {
	var text []rune
	for r := rune(0xf0000); r < 0xf0100; r++ { // private use: in no font
		text = append(text, r)
	}
	lay(string(text), 300)
	if n := len(facesFor(Style{Size: 14}).lacks); n > 64 {
		t.Errorf("%d letters were looked for, want at most 64", n)
	}
}

func TestPicturesAreColoured(t *testing.T) {
	l := lay("😀", 0)
	img := image.NewRGBA(image.Rect(0, 0, 40, 40))
	l.Draw(img, 0, 0, 2, 0, func(int) color.Color { return color.Black })
	coloured := 0
	for i := 0; i < len(img.Pix); i += 4 {
		if p := img.Pix[i : i+4]; p[3] > 0 && (p[0] > p[2]+40) {
			coloured++
		}
	}
	if coloured < 50 {
		t.Errorf("%d dots have a colour, want at least 50", coloured)
	}
}

// withoutSystem disables the system's fonts: loading them takes seconds in a program that is built
// for fuzzing, and their content is not under test.
func withoutSystem(t testing.TB) {
	original := systemFonts
	systemFonts = func() *fontscan.FontMap { return nil }
	clear(families)
	t.Cleanup(func() {
		systemFonts = original
		clear(families)
	})
}

func FuzzLay(f *testing.F) {
	for _, s := range []string{"", "a\nb", "שלום\u200fabc", "👨‍👩‍👧", "\x00\ufffd\u2028", "e\u0301\u0301\u0301", strings.Repeat("w", 300)} {
		f.Add(s, float32(80))
	}
	for _, s := range []string{"room שלום 123", "(مرحبا [12.50) x]", "\u202eabc\u2066\u05d0\u2069\u202c 1", "a\u05d0 \u2067"} {
		f.Add(s, float32(200))
	}
	withoutSystem(f)
	f.Fuzz(func(t *testing.T, s string, width float32) {
		if width < 20 || width > 2000 || len(s) > 500 {
			return
		}
		l := lay(s, width)
		n := l.Runes()
		checkPositions(t, l)
		l.Boxes(0, n, width)
		if at := l.Index(width/2, l.Height/2, width); at < 0 || at > n {
			t.Fatalf("place %d of %d", at, n)
		}
		l.Draw(image.NewRGBA(image.Rect(0, 0, 100, 100)), 0, 0, 1, width, func(int) color.Color { return color.Black })
	})
}

func BenchmarkParagraph(b *testing.B) {
	text := strings.Repeat("Because a semicolon is missing in parse.c, and the next line hides it. ", 6)
	img := image.NewRGBA(image.Rect(0, 0, 640, 120))
	for b.Loop() {
		l := lay(text, 640)
		clear(img.Pix)
		l.Draw(img, 0, 0, 1, 640, func(int) color.Color { return color.Black })
	}
}

func TestPaddedRunHasSpaceAtItsEnds(t *testing.T) {
	word := func(pad float32) *Text {
		return LayOut([]Run{{Text: "a ", Style: Style{Size: 14}}, {Text: "code", Style: Style{Size: 13, Mono: true}, Pad: pad}, {Text: " b", Style: Style{Size: 14}}}, 0, 1.45)
	}
	plain, padded := word(0), word(3)
	if got := padded.Width - plain.Width; got < 5.9 || got > 6.1 {
		t.Errorf("the text is %v wider, want 6", got)
	}
	was, is := plain.Boxes(2, 6, 0)[0], padded.Boxes(2, 6, 0)[0]
	if is.X != was.X || is.Width-was.Width < 5.9 {
		t.Errorf("the run is at %v, want at %v and 6 wider", is, was)
	}
}
