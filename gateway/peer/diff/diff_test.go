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
				t.Errorf("%s: +%d -%d\n%s", tc.name, d.Added, d.Removed, d.Text)
			}
		})
	}
}

func TestDiffIsUnified(t *testing.T) {
	t.Parallel()
	got := New("/dev/null", "a.txt", nil, []byte("one\ntwo")).Text
	if want := "--- /dev/null\n+++ a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"; got != want {
		t.Errorf("%q", got)
	}
	got = New("a", "a", []byte("1\n2\n3\n4\n5\n"), []byte("1\n2\n3\n4\nfive\n")).Text
	if want := "--- a\n+++ a\n@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n"; got != want {
		t.Errorf("%q", got)
	}
}
