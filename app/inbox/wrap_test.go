package inbox

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// wrapLines joins the lines of a text with |; every character is 1 wide.
func wrapLines(text string, room int) string {
	var lines []string
	from := 0
	for _, end := range lineEnds(text, float32(room), func(s string) float32 { return float32(utf8.RuneCountInString(s)) }) {
		lines = append(lines, text[from:end])
		from = end
	}
	return strings.Join(lines, "|")
}

func TestLinesBreakBetweenWordsAndPathsAtSeparators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		room int
		want string
	}{
		{"", 8, ""},
		{"make -j4", 8, "make -j4"},
		{"make all test", 8, "make all |test"},
		{"cd a/b/install.sh", 16, "cd |a/b/install.sh"},
		{"/srv/one/two/three", 10, "/srv/one/|two/three"},
		{"in /srv/one/two/three", 12, "in /srv/one/|two/three"},
		{"/srv/abcdefghijkl/x", 8, "/srv/|abcdefgh|ijkl/x"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"https://a.example/b", 8, "https://|a.exampl|e/b"},
		{"a\nb\n\nc", 8, "a\n|b\n|\n|c"},
		{"éé éé éé", 5, "éé éé |éé"},
		{"one   two", 5, "one   |two"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := wrapLines(c.text, c.room); got != c.want {
				t.Errorf("%d wide: %q, want %q", c.room, got, c.want)
			}
		})
	}
}

func FuzzWrappedLinesAreTheText(f *testing.F) {
	f.Add("make -j4 && sudo systemctl restart /etc/parser", 9)
	f.Add(" \n /\\ é", 1)
	f.Fuzz(func(t *testing.T, text string, room int) {
		if !utf8.ValidString(text) || strings.Contains(text, "|") || room < 1 || room > 80 {
			return // not a text that the dialog wraps
		}
		got := wrapLines(text, room)
		if strings.ReplaceAll(got, "|", "") != text {
			t.Errorf("got %q, want %q with line breaks only", got, text)
		}
		for line := range strings.SplitSeq(got, "|") {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " \n")); n > room {
				t.Errorf("a line for %d is %d wide: %q", room, n, line)
			}
		}
	})
}
