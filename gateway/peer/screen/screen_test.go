package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// lines returns the text of the history and the screen.
func lines(s *Screen) []string {
	var list []string
	_, rows := s.Size()
	for i := -s.HistoryLines(); i < rows; i++ {
		list = append(list, s.Text(i))
	}
	return list
}

func TestScreenStoresLinesThatScrollOut(t *testing.T) {
	s := New(20, 2, 2)
	s.Write([]byte("one\r\ntwo\r\nthree\r\nfour\r\nfive"))
	want := []string{"two", "three", "four", "five"}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("lines: got %q, want %q", got, want)
	}
}

func TestAlternateScreenLeavesHistoryAlone(t *testing.T) {
	s := New(20, 2, 10)
	s.Write([]byte("one\r\ntwo\x1b[?1049h" + strings.Repeat("x\r\n", 9) + "\x1b[?1049l!"))
	want := []string{"one", "two!"}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("lines: got %q, want %q", got, want)
	}
}

func TestQuestionsAreAnswered(t *testing.T) {
	for question, want := range map[string]string{
		"\x1b[c":                  "\x1b[?62;22c",
		"\x1b[>c":                 "\x1b[>1;10;0c",
		"\x1b[5n":                 "\x1b[0n",
		"ab\r\nc\x1b[6n":          "\x1b[2;2R",
		"\x1b[?6n":                "\x1b[?1;1R",
		"\x1b[?2026$p":            "\x1b[?2026;2$y",
		"\x1b[?2004h\x1b[?2004$p": "\x1b[?2004;1$y",
		"\x1b[?4711$p":            "\x1b[?4711;0$y",
		"\x1b[>q":                 "\x1bP>|fairlead\x1b\\",
		"\x1bP$qm\x1b\\":          "\x1bP0$r\x1b\\",
		"\x1bP+q544e\x1b\\":       "\x1bP0+r\x1b\\",
		"\x1b[18t":                "\x1b[8;5;20t",
		"\x1b[>4;2m\x1b[?u":       "",
	} {
		s := New(20, 5, 0)
		s.Write([]byte(question))
		if got := string(s.Answers()); got != want {
			t.Errorf("answer to %q: got %q, want %q", question, got, want)
		}
		if got := s.Answers(); len(got) > 0 {
			t.Errorf("second answer to %q: got %q, want none", question, got)
		}
	}
}

func TestTitleIsHarmless(t *testing.T) {
	for sequence, want := range map[string]string{
		"\x1b]0;Übung 日本\x07":                              "Übung 日本",
		"\x1b]2;a\x01b\u202ec\nd\x1b\\":                    "abc d",
		"\x1b]2;" + strings.Repeat("x", 5000) + "\x07":     strings.Repeat("x", maxTitle-1) + "…",
		"\x1b]2;one\x07\x1b[22;0t\x1b]2;two\x07\x1b[23;0t": "one",
	} {
		s := New(20, 5, 0)
		s.Write([]byte(sequence))
		if got := s.Title(); got != want {
			t.Errorf("title after %.40q: got %q, want %q", sequence, got, want)
		}
	}
}

func TestLinksLeadToTheirAddress(t *testing.T) {
	s := New(20, 5, 0)
	s.Write([]byte("\x1b]8;id=1;https://example.com/\x1b\\here\x1b]8;;\x1b\\ and \x1b]8;;bad\u202eaddress\x1b\\there"))
	cells, _ := s.Line(0, nil)
	if got, want := cells[0].Link, "https://example.com/"; got != want {
		t.Errorf("link of the first word: got %q, want %q", got, want)
	}
	for _, c := range cells[4:] {
		if c.Link != "" {
			t.Errorf("link of %q: got %q, want none", c.Rune, c.Link)
		}
	}
}

// TestTablesForgetUnusedTexts writes more links and combined characters than the tables hold.
func TestTablesForgetUnusedTexts(t *testing.T) {
	s := New(20, 5, 0)
	for i := range 3 * maxClusters {
		fmt.Fprintf(s, "\x1b]8;;x:%d\x1b\\%c\u0301%c\u0302\r", i, 'a'+i%26, 0x4e00+i%0x5000)
	}
	last := 3*maxClusters - 1
	cells, _ := s.Line(0, nil)
	if got, want := cells[0].Link, fmt.Sprintf("x:%d", last); got != want {
		t.Errorf("link: got %q, want %q", got, want)
	}
	if got, want := s.Text(0), string(rune('a'+last%26))+"\u0301"+string(rune(0x4e00+last%0x5000))+"\u0302"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
	if got := len(s.state.links.texts); got > maxLinks {
		t.Errorf("links in the table: got %d, want %d at most", got, maxLinks)
	}
}

func TestResizeBreaksLinesAnew(t *testing.T) {
	s := New(10, 3, 10)
	s.Write([]byte("abcdefghijklmno\r\n日本語日本語\r\n$ "))
	s.Resize(6, 3)
	want := []string{"abcdef", "ghijkl", "mno", "日本語", "日本語", "$"}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("lines at 6 columns: got %q, want %q", got, want)
	}
	s.Resize(30, 5)
	want = []string{"abcdefghijklmno", "日本語日本語", "$", "", ""}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("lines at 30 columns: got %q, want %q", got, want)
	}
	if x, y := s.Cursor(); x != 2 || y != 2 {
		t.Errorf("cursor: got %d, %d, want 2, 2", x, y)
	}
}

func TestFewerRowsKeepNewestLines(t *testing.T) {
	s := New(10, 4, 10)
	s.Write([]byte("1\r\n2\r\n3\r\n4"))
	s.Resize(10, 2)
	if got, want := []string{s.Text(0), s.Text(1)}, []string{"3", "4"}; !slices.Equal(got, want) {
		t.Errorf("screen: got %q, want %q", got, want)
	}
	s.Resize(10, 4)
	if got, want := lines(s), []string{"1", "2", "3", "4"}; !slices.Equal(got, want) {
		t.Errorf("screen after it got its rows back: got %q, want %q", got, want)
	}
}

// TestHostileOutputIsBounded writes sequences that ask for much with few bytes. Each took minutes
// with the emulators of others.
func TestHostileOutputIsBounded(t *testing.T) {
	for name, p := range map[string]string{
		"repeated character": strings.Repeat("x\x1b[1000000000b", 1000),
		"scrolled lines":     strings.Repeat("\x1b[2000000000S\x1b[2000000000T\x1b[2000000000L", 10_000),
		"inserted cells":     strings.Repeat("\x1b[2000000000@\x1b[2000000000P\x1b[2000000000X", 10_000),
		"tabs":               strings.Repeat("\x1b[2000000000I\x1b[2000000000Z", 10_000),
		"overflow":           "\x1b[99999999999999999999999999999999999A\x1b[-1;-1H",
		"parameters":         "\x1b[" + strings.Repeat("1;", 100_000) + "m",
		"unfinished picture": "\x1bPq" + strings.Repeat("~", 10<<20),
		"unfinished title":   "\x1b]2;" + strings.Repeat("~", 10<<20),
		"marks":              "e" + strings.Repeat("\u0301", 1<<20),
		"titles":             strings.Repeat("\x1b[22t", 100_000),
		"questions":          strings.Repeat("\x1b[c", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			before, start := heap(), time.Now()
			s := New(200, 60, 100)
			s.Write([]byte(p))
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("time: got %v, want 20 s at most", took)
			}
			if got := heap() - before; int64(got) > 2<<20 {
				t.Errorf("memory: got %d bytes, want 2 MiB at most", got)
			}
			s.Write([]byte("\x1b\\\x1bcok"))
			if got := s.Text(0); got != "ok" {
				t.Errorf("text after it: got %q, want %q", got, "ok")
			}
		})
	}
}
