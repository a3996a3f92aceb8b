package format

import (
	"strings"
	"testing"
	"time"
)

func TestLineHoldsOnlyVisibleCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"plain words", 0, "plain words"},
		{" Debian\r\n\nsandbox:\tenforced \u202egnihton\x1b[2J\u2066 ", 0, "Debian sandbox: enforced gnihton"},
		{"\x1b]0;title\x07\x1b[1;31mfatal\x1b[0m: \x1b[", 0, "fatal: ["},
		{"a\u00a0\u3000b\u2028c\u200bd\ufeff", 0, "a b cd"},
		{"\xffbad\xc3", 0, "bad"},
		{"äöüß", 4, "äöüß"},
		{"äöüßa", 4, "äöü…"},
		{"  äöü  ", 3, "äöü"},
		{"\n\u202e", 5, ""},
	} {
		if got := Line(c.in, c.limit); got != c.want {
			t.Errorf("%q in %d is %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestACapitalLetterIsWhole(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "no": "No", "éteint": "Éteint", "模型不存在": "模型不存在", "\xe6bad": "\xe6bad"} {
		if got := Capital(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestSingularIsUsedForOne(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 steps, 0 entries", 1: "1 step, 1 entry", 2: "2 steps, 2 entries"} {
		if got := Plural(n, "step") + ", " + Plural(n, "entry", "entries"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDaysCountMidnights(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	at := time.Date(2026, 3, 1, 0, 30, 0, 0, zone)
	for to, want := range map[time.Time]int{at: 0, at.Add(-time.Hour): -1, at.Add(23 * time.Hour): 0, at.Add(24 * time.Hour): 1, at.AddDate(1, 0, 0): 365} {
		if got := Days(at, to); got != want {
			t.Errorf("days to %s: got %d, want %d", to, got, want)
		}
	}
}

func TestWordsAreEnumerated(t *testing.T) {
	for want, words := range map[string][]string{"nothing": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := Enumerate(words); got != want {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
}

func TestTitleIsALineOfWholeWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"  \n- ":                            "",
		"ls -la":                            "ls -la",
		"# Fix:\n\n the `make` file":        "Fix: the make file",
		"“Lärm im Getriebe”":                "Lärm im Getriebe",
		strings.Repeat("word, ", 20):        strings.TrimSuffix(strings.Repeat("word, ", 10), ", ") + "…",
		strings.Repeat("x", 100):            strings.Repeat("x", 59) + "…",
		"1. first\u202e":                    "1. first",
		"Please compare these two lists:":   "Please compare these two lists",
		"Refactor the parser in pkg/parse.": "Refactor the parser in pkg/parse.",
	} {
		if got := Title(in); got != want {
			t.Errorf("Title(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	for n, want := range []string{"", "a", "a", "a", "a€", "a€b", "a€b"} {
		if got := Head("a€b", n); got != want {
			t.Errorf("Head of %d bytes: got %q, want %q", n, got, want)
		}
	}
	if got, want := Head("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80\x80\x80\x80"; got != want {
		t.Errorf("Head of invalid text: got %q, want %q", got, want)
	}
	for text, want := range map[string]string{"€€": "€€", "€€€": "€ … €", "abcdefgh": "abcdefgh", "abcdefghi": "abcd … fghi"} {
		if got := CutMiddle(text, 4, 4, " … "); got != want {
			t.Errorf("CutMiddle of %q: got %q, want %q", text, got, want)
		}
	}
}
