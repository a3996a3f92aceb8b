package diff

import (
	"strings"
	"testing"

	"fairlead/app/code"
	"fairlead/app/question"
	"fairlead/app/style"
)

// visibleText returns lines with their gutters.
func visibleText(lines []code.Line) string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(l.Gutter+" "+l.Text(), " "))
	}
	return strings.Join(out, "\n")
}

func TestDiffNamesItsFilesOnlyWhenThereAreSeveral(t *testing.T) {
	one := "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,1 @@\n--- a comment\n keep\n"
	if got := code.JoinLines(Lines(one)); got != "- -- a comment\n  keep" {
		t.Errorf("one file shows\n%s", got)
	}
	two := one + "--- y.sql\t2026-01-01\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
	if got := code.JoinLines(Lines(two)); got != "x.sql\n- -- a comment\n  keep\ny.sql, deleted\n- gone" {
		t.Errorf("two files show\n%s", got)
	}
	for _, l := range Lines(one) {
		if strings.HasPrefix(l.Text(), "-") && l.Background != style.ColorRemovedBg {
			t.Errorf("%q has no background", l.Text())
		}
	}
}

func TestDiffHasTheNumbersOfItsLines(t *testing.T) {
	const text = "--- a\n+++ a\n@@ -9,3 +9,3 @@\n a\n-b\n+c\n d\n@@ -40,1 +40,2 @@\n e\n+f\n\\ No newline at end of file\n"
	const want = `   9    9   a
  10      - b
       10 + c
  11   11   d
 ⋯
  40   40   e
       41 + f
 \ No newline at end of file`
	if got := visibleText(Lines(text)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, left, right := hunkLines(question.Hunks(text)[0], "")
	if got := visibleText(left) + "\n" + visibleText(right); got != "   9   a\n  10 - b\n  11   d\n   9   a\n  10 + c\n  11   d" {
		t.Errorf("side by side\n%s", got)
	}
}

func TestChangedWordsAreMarked(t *testing.T) {
	marked := func(l code.Line) (out []string) {
		for _, s := range l.Spans {
			if s.Background != "" {
				out = append(out, s.Text)
			}
		}
		return out
	}
	for _, tc := range []struct{ before, after, removed, added string }{
		{"timeout = 30 * time.Second", "timeout = 45 * time.Second", "30", "45"},
		{"a := old(x, y)", "a := old(x)", ", y", ""},
		{"return nil", "for i := range list {", "", ""},
		{"", "x", "", ""},
		{"größe = 1", "größe = 2", "1", "2"},
	} {
		lines := Lines("@@ -1 +1 @@\n-" + tc.before + "\n+" + tc.after + "\n")
		if got := strings.Join(marked(lines[0]), ""); got != tc.removed || lines[0].Text() != "- "+tc.before {
			t.Errorf("%q: removed %q, want %q", tc.before, got, tc.removed)
		}
		if got := strings.Join(marked(lines[1]), ""); got != tc.added || lines[1].Text() != "+ "+tc.after {
			t.Errorf("%q: added %q, want %q", tc.after, got, tc.added)
		}
	}
}
