package diff

import (
	"strings"
	"testing"

	"fairlead/app/style"
)

func TestDiffNamesItsFilesOnlyWhenThereAreSeveral(t *testing.T) {
	words := func(diff string) string {
		var out []string
		for _, l := range Lines(diff) {
			out = append(out, l.Text())
		}
		return strings.Join(out, "\n")
	}
	one := "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,1 @@\n--- a comment\n keep\n"
	if got := words(one); got != "@@ -1,2 +1,1 @@\n− -- a comment\n  keep" {
		t.Errorf("one file shows\n%s", got)
	}
	if got := words(one + "--- y.sql\t2026-01-01\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"); got != "x.sql\n@@ -1,2 +1,1 @@\n− -- a comment\n  keep\ny.sql, deleted\n@@ -1 +0,0 @@\n− gone" {
		t.Errorf("two files show\n%s", got)
	}
	for _, l := range Lines(one) {
		if strings.HasPrefix(l.Text(), "−") && l.Background != style.ColorRemovedBg {
			t.Errorf("%q has no ground", l.Text())
		}
	}
}
