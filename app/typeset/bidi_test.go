package typeset

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestLevelsAreThoseOfTheUnicodeConsortium runs a part of BidiCharacterTest.txt of Unicode 15.0
// (https://www.unicode.org/Public/15.0.0/ucd/), or the whole file that FAIRLEAD_BIDI names.
func TestLevelsAreThoseOfTheUnicodeConsortium(t *testing.T) {
	name := "testdata/BidiCharacterTest.txt"
	if whole := os.Getenv("FAIRLEAD_BIDI"); whole != "" {
		name = whole
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases, wrong := 0, 0
	for in := bufio.NewScanner(f); in.Scan(); {
		line := in.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		cases++
		if got, want := bidiCase(t, line); got != want {
			if wrong++; wrong < 10 {
				t.Errorf("%s\ngot  %s\nwant %s", line, got, want)
			}
		}
	}
	if wrong > 0 || cases < 500 {
		t.Errorf("%d of %d cases are wrong; want at most 0 and at least 500", wrong, cases)
	}
}

// bidiCase returns the levels and order of a line of the file, and the expected ones.
func bidiCase(t *testing.T, line string) (got, want string) {
	fields := strings.Split(line, ";")
	var text []rune
	for _, hex := range strings.Fields(fields[0]) {
		r, err := strconv.ParseUint(hex, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, rune(r))
	}
	fixed := map[string]int{"0": 0, "1": 1, "2": -1}[fields[1]]
	list, base := levels(text, fixed)
	for i := trailingSpaces(text); i < len(text); i++ {
		list[i] = base
	}
	asked := strings.Fields(fields[3])
	var deep []uint8
	var at []int
	said := make([]string, len(text))
	for i := range text {
		said[i] = "x"
		if asked[i] != "x" {
			said[i] = fmt.Sprint(list[i])
			deep, at = append(deep, list[i]), append(at, i)
		}
	}
	order := make([]string, 0, len(at))
	for _, k := range visualOrder(deep) {
		order = append(order, fmt.Sprint(at[k]))
	}
	return fmt.Sprintf("%d;%s;%s", base, strings.Join(said, " "), strings.Join(order, " ")), strings.Join(fields[2:], ";")
}

// visualText returns a text in visual order, from left to right.
func visualText(l *Text, line int) string {
	var b strings.Builder
	for _, p := range l.lines[line].parts {
		for at := p.from; at < p.to; at++ {
			i := at
			if p.rtl {
				i = p.to - 1 - (at - p.from)
			}
			b.WriteRune(l.runes[i])
		}
	}
	return b.String()
}

func TestNumbersFollowTheirLanguage(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"room שלום 123 is free", "room 123 םולש is free"},
		{"price: مرحبا 12.50", "price: 12.50 ابحرم"},
		{"see דף 3, דף 4", "see 4 ףד ,3 ףד"},
		{"from 10:30 עד 11:45 today", "from 10:30 11:45 דע today"},
		{"file (שלום) 7", "file (םולש) 7"},
		{"שלום abc 12", "abc 12 םולש"},
		{"שלום 12 abc", "abc 12 םולש"},
		{"גרסה 1.2.3 יצאה", "האצי 1.2.3 הסרג"},
		{"كلفة 10-20 ريال", "لاير 20-10 ةفلك"},
		{"12 שלום", "םולש 12"},
		{"- 50% שלום", "םולש 50% -"},
		{"a\u2067שלום 1\u2069 b", "a\u20671 םולש\u2069 b"},
	} {
		t.Run(c.text, func(t *testing.T) {
			if got := visualText(lay(c.text, 0), 0); got != c.want {
				t.Errorf("%q stands as %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestDirectionContinuesThroughStyles(t *testing.T) {
	size := Style{Size: 14}
	bold := Style{Size: 14, Bold: true}
	l := LayOut([]Run{{Text: "room ", Style: size}, {Text: "שלום", Style: bold}, {Text: " ", Style: size}, {Text: "123", Style: bold}, {Text: " is free", Style: size}}, 0, 1.45)
	if got := visualText(l, 0); got != "room 123 םולש is free" {
		t.Errorf(`it stands as %q, want "room 123 םולש is free"`, got)
	}
}

func TestEachLineIsReorderedSeparately(t *testing.T) {
	words := strings.Repeat("מילה 12 ", 12)
	l := lay("ab "+words, 120)
	if len(l.lines) < 3 {
		t.Fatalf("got %d lines, want at least 3", len(l.lines))
	}
	for i := range l.lines {
		got := strings.TrimSpace(visualText(l, i))
		if i == 0 {
			if !strings.HasPrefix(got, "ab ") {
				t.Errorf(`the first line is %q, want it to begin with "ab "`, got)
			}
			continue
		}
		if first := l.runes[l.lines[i].from]; first == 'מ' && !strings.HasSuffix(got, "הלימ") {
			t.Errorf("line %d begins with a word that does not stand at the right of what is turned: %q", i, got)
		}
	}
}

func TestPositionsAgreeInMixedDirections(t *testing.T) {
	for _, text := range []string{"room שלום 123 is (free) שלום", "שלום abc 12.5 (עולם) xy", "مرحبا 12-34 abc", "a שלום "} {
		t.Run(text, func(t *testing.T) {
			l := lay(text, 400)
			runes := []rune(text)
			for i := range l.Runes() {
				for _, b := range l.Boxes(i, i+1, 400) {
					if b.Width < 1 {
						continue
					}
					near, far := l.Index(b.X+b.Width*0.3, b.Y+1, 400), l.Index(b.X+b.Width*0.7, b.Y+1, 400)
					if near > far {
						near, far = far, near
					}
					if near != i || far != i+1 {
						t.Errorf("%q: at rune %d (%c) are places %d and %d", text, i, runes[i], near, far)
					}
				}
			}
		})
	}
}

func TestSelectionAcrossDirectionsIsDrawnInPlace(t *testing.T) {
	l := lay("room שלום 123 is", 0)
	digits, word, both := l.Boxes(10, 13, 0), l.Boxes(5, 9, 0), l.Boxes(5, 13, 0)
	if len(digits) != 1 || len(word) != 1 || digits[0].X >= word[0].X {
		t.Fatalf("the number is at %v, the word before it at %v", digits, word)
	}
	wide := float32(0)
	for _, b := range both {
		wide += b.Width
	}
	if left := both[0].X; left != digits[0].X || wide < digits[0].Width+word[0].Width {
		t.Errorf("both together are at %v", both)
	}
}
