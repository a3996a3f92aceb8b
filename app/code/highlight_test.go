package code

import (
	"strings"
	"testing"
)

func TestHighlightKeepsEveryLetter(t *testing.T) {
	code := "package x\n\n// C is a comment\nfunc F() string { return \"a\\tb\" }\n"
	lines := Highlight(code, "go")
	if got := JoinLines(lines); got != strings.TrimSuffix(code, "\n") {
		t.Fatalf("got %q, want %q", got, strings.TrimSuffix(code, "\n"))
	}
	colored := 0
	for _, l := range lines {
		for _, s := range l.Spans {
			if s.Color != "" {
				colored++
			}
		}
	}
	if colored < 4 {
		t.Errorf("only %d spans have a colour, want at least 4", colored)
	}
	long := strings.Repeat("x = 1\n", 10_000)
	if got := HighlightLong(long, "a.py"); !IsLong(long) || len(got) != 10_000 || len(got[9_999].Spans) < 2 {
		t.Errorf("long code has %d lines, the last %+v", len(got), got[len(got)-1])
	}
	if got := Highlight(long, "python"); len(got) != 10_000 || got[0].Spans[0].Color != "" {
		t.Error("very long code should stay plain")
	}
}
