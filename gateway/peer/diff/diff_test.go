package diff

import (
	"fmt"
	"strings"
	"testing"
)

func TestDiffIsShortWhereLinesRepeatAndWhereManyChange(t *testing.T) {
	t.Parallel()
	repeated := strings.Split(strings.Repeat("x\n", 22), "\n")
	twice := append([]string{}, repeated...)
	twice[3], twice[15] = "A", "B"
	var many, changed strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "line %d\n", i)
		if i%10 == 0 {
			changed.WriteString("changed ")
		}
		fmt.Fprintf(&changed, "line %d\n", i)
	}
	for _, tc := range []struct {
		name, before, after string
		added, removed      int
	}{
		{"lines that repeat", strings.Join(repeated, "\n"), strings.Join(twice, "\n"), 2, 2},
		{"many changes", many.String(), changed.String(), 500, 500},
		{"signs at the beginning", "-- a\n++ b\n", "-- b\n++ b\n", 1, 1},
		{"nothing", "a\n", "a\n", 0, 0},
		{"no end of line", "a", "a\nb", 2, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := New("f", "f", []byte(tc.before), []byte(tc.after))
			if d.Added != tc.added || d.Removed != tc.removed || (d.Text == "") != (tc.added == 0) {
				t.Errorf("got +%d -%d, want +%d -%d:\n%s", d.Added, d.Removed, tc.added, tc.removed, d.Text)
			}
		})
	}
}

func TestDiffIsUnified(t *testing.T) {
	t.Parallel()
	got := New("/dev/null", "a.txt", nil, []byte("one\ntwo")).Text
	if want := "--- /dev/null\n+++ a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = New("a", "a", []byte("1\n2\n3\n4\n5\n"), []byte("1\n2\n3\n4\nfive\n")).Text
	if want := "--- a\n+++ a\n@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDiffOfFileIsLimited(t *testing.T) {
	t.Parallel()
	const header = "--- f\n+++ f\n"
	for _, tc := range []struct {
		name, before, after string
		most                int
		ok, cut             bool
		end                 string // of the text
	}{
		{"short", "a\n", "b\n", MaxQuestion, true, false, "-a\n+b\n"},
		{"cut after a line", "", "one\ntwo\nthree\n", len(header) + len("@@ -0,0 +1,3 @@\n+one\n+t"), true, true, "+one\n"},
		{"as many lines as possible", "", strings.Repeat("\n", MaxLines), 64, true, true, "+\n"},
		{"too many lines", strings.Repeat("\n", MaxLines+1), "", 64, false, false, ""},
		{"too large", "", strings.Repeat("x", MaxFile+1), 64, false, false, ""},
		{"not text", "\xff\x00", "a\n", 64, false, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, ok := OfFile("f", "f", []byte(tc.before), []byte(tc.after), tc.most)
			if ok != tc.ok || d.IsCut != tc.cut {
				t.Errorf("got ok %v, cut %v, want %v, %v", ok, d.IsCut, tc.ok, tc.cut)
			}
			if len(d.Text) > tc.most || !strings.HasSuffix(d.Text, tc.end) {
				t.Errorf("got %q, want at most %d bytes that end with %q", d.Text, tc.most, tc.end)
			}
		})
	}
	if d, _ := OfFile("ä", "ä", nil, []byte("x"), 5); d.Text != "--- " {
		t.Errorf("cut within a character: got %q, want %q", d.Text, "--- ")
	}
}
