package glob

import (
	"strings"
	"testing"
)

func TestPatternsMatchWholePaths(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/*", "a/b", true},
		{"a/*", "a", false},
		{"*", "a/b", false},
		{"**", "a/b/c", true},
		{"a/**", "a", true},
		{"a/**", "b", false},
		{"**/c", "c", true},
		{"**/c", "a/b/c", true},
		{"**/c", "a/b/d", false},
		{"a/**/d", "a/b/c/d", true},
		{"a/**/d", "a/d", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{"[a", "a", false}, // not a pattern
	} {
		if got := Match(strings.Split(c.pattern, "/"), strings.Split(c.path, "/")); got != c.want {
			t.Errorf("%s for %s: got %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}
