package code

import (
	"strings"
	"testing"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets/widgettest"
)

func wrapping(t *testing.T, text string, room int) *View {
	c := NewView(nil)
	c.wraps = true
	widgettest.Window(t, c, 10, 10)
	c.SetLines(PlainLines(text))
	c.WrapTo(float32(room) * Cell().Width)
	return c
}

func TestWrappedCodeIsMarkedAndFoundWhereItStands(t *testing.T) {
	text := "make one two\n\nthree fourfivesix"
	c := wrapping(t, text, 8)
	var rows []string
	for _, l := range c.rows.lines {
		rows = append(rows, l.Text())
	}
	if got := strings.Join(rows, "|"); got != "make |one two||three |fourfive|six" {
		t.Fatalf("the rows are %q", got)
	}
	if len(c.rows.source) != 3 || c.text.PlainText() != text || c.text.Runes() != len(text) {
		t.Errorf("%d lines, %q, %d runes", len(c.rows.source), c.text.PlainText(), c.text.Runes())
	}
	cell := Cell()
	for at := range len(text) {
		n := c.text.Find(text[at : at+1])
		for hit := range n {
			p := c.text.ShowHit(hit)
			if i := c.Index(p.AddXY(1, 1)); text[i:i+1] != text[at:at+1] {
				t.Errorf("place %d of %q is drawn at %v, where %q stands", hit, text[at:at+1], p, text[i:i+1])
			}
		}
	}
	if n := c.text.Find("fourfivesix"); n != 1 {
		t.Errorf("a word over two rows is found %d times, want 1", n)
	}
	if p := c.text.ShowHit(0); p != fyne.NewPos(0, 4*cell.Height) {
		t.Errorf("it is at %v, want %v", p, fyne.NewPos(0, 4*cell.Height))
	}
	if from, to := c.text.Word(strings.Index(text, "six"), false); c.Slice(from, to) != "fourfivesix" {
		t.Errorf(`the word is %q, want "fourfivesix"`, c.Slice(from, to))
	}
	if from, to := c.text.Word(2, true); c.Slice(from, to) != "make one two" {
		t.Errorf(`the line is %q, want "make one two"`, c.Slice(from, to))
	}
}

func TestColoursStayWithTheirLettersWhenALineWraps(t *testing.T) {
	line := Line{Spans: []Span{{Text: "abcde", Color: "one"}, {Color: "none"}, {Text: "fgh ij", Color: "two"}}, Background: "ground"}
	rows := line.wrap(4)
	if len(rows) != 3 {
		t.Fatalf("got %v; want 3 rows", rows)
	}
	for i, want := range []string{"abcd", "efgh", " ij"} {
		if rows[i].Text() != want || rows[i].Background != "ground" {
			t.Errorf("row %d is %v", i, rows[i])
		}
	}
	if s := rows[1].Spans; s[0] != (Span{Text: "e", Color: "one"}) || s[len(s)-1] != (Span{Text: "fgh", Color: "two"}) {
		t.Errorf("the second row is %v", s)
	}
}

func FuzzWrappedRowsAreTheLine(f *testing.F) {
	f.Add("make -j4 && sudo systemctl restart parser", uint8(9))
	f.Add("日本語 のコマンド", uint8(1))
	f.Add("", uint8(3))
	f.Fuzz(func(t *testing.T, text string, room uint8) {
		if !utf8.ValidString(text) || strings.Contains(text, "\n") {
			t.Skip("no line")
		}
		n := int(room%80) + 1
		var all strings.Builder
		for _, row := range (Line{Spans: []Span{{Text: text}}}).wrap(n) {
			all.WriteString(row.Text())
			if w := columns(row.Text()); w > n && utf8.RuneCountInString(row.Text()) > 1 {
				t.Errorf("a row of %d columns is %d wide: %q", n, w, row.Text())
			}
		}
		if all.String() != text {
			t.Errorf("%q became %q, want %q", text, all.String(), text)
		}
	})
}
