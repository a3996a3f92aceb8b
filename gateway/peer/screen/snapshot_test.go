package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contents describes all that a snapshot must restore.
func contents(s *Screen) []string {
	st := s.state
	show := func(c Cell) string {
		style := c.Style
		style.link = 0
		return fmt.Sprintf("%c%s/%d/%x/%s", c.Rune, c.Marks, c.Width, style, c.Link)
	}
	pen := func(c cursor) string {
		link := st.links.texts[c.pen.link]
		c.pen.link = 0
		return fmt.Sprintf("%+v %s", c, link)
	}
	list := []string{
		"title " + s.Title(), "cursor " + pen(st.cursor), "saved " + pen(st.main.saved),
		fmt.Sprintf("modes %+v", st.modes), fmt.Sprint("tabs ", st.tabs),
		fmt.Sprint("region ", st.main.top, st.main.bottom),
	}
	lines := func(from, to int) {
		for i := from; i < to; i++ {
			cells, wrapped := s.Line(i, nil)
			var b strings.Builder
			for _, c := range cells {
				b.WriteString(show(c))
			}
			list = append(list, fmt.Sprint(i, " ", wrapped && i < to-1, " ", b.String()))
		}
	}
	lines(-s.HistoryLines(), len(st.main.rows))
	if st.modes.Alternate {
		list = append(list, "alternate saved "+pen(st.alternate.saved), fmt.Sprint("region ", st.alternate.top, st.alternate.bottom))
		st.active = &st.main
		lines(0, len(st.main.rows))
		st.active = &st.alternate
	}
	return list
}

// checkSnapshot fails if another screen is not the same after it got the snapshot.
func checkSnapshot(t *testing.T, s *Screen) {
	t.Helper()
	cols, rows := s.Size()
	other := New(cols, rows, s.state.history.limit)
	other.Write(s.Snapshot())
	if want, got := contents(s), contents(other); !slices.Equal(want, got) {
		t.Fatalf("screen after the snapshot %q (- original, + copy):\n%s", s.Snapshot(), cmp.Diff(want, got))
	}
}

var sequences = []string{
	"plain", "two\r\nlines", "tab\tstop", strings.Repeat("wrapped ", 12), "\x1b[31mred\x1b[0m", "\x1b[48;5;200mx\x1b[K\r\n\r\n\r\n\r\n\r\n",
	"\x1b[38;2;1;2;3;1;4:3mstyle", "日本語テスト", "e\u0301 👩\u200d👩\u200d👧 🇩🇪", "\x1b[?1049halt\x1b[2;3H", "\x1b[?1049h\x1b[2;4rx\x1b7\x1b[?6h",
	"\x1b[?1;2004;1002;1006;1004h\x1b=", "\x1b(0lqqk\x1b(B", "\x0e\x1b)0", "\x1b]2;title\x07", "\x1b]8;;https://example.com/\x1b\\link\x1b]8;;\x1b\\",
	"\x1b[3g\x1b[5G\x1bH", "\x1b[2;4r\x1b[4;1H\n\n", "\x1b[5 q\x1b[?25l", "\x1b7\x1b[2;2H", "\x1b[4hins", "\x1b[?7lno wrap at the right edge", "\x1b#8", "\x1b[2L\x1b[3M\x1b[4@\x1b[2P",
	"12345678901234567890", "1234567890123456789日", "\x1b[1", "\x1b]2;half", "\xe6\x97", "\x1b[20G\x1b[41mx", "\x1b[1000000000b", "\x1b[999999S\x1b[999999T", "x\x1b[99999999999999999999b",
	"\x1b[?6h\x1b[2;3r\x1b[9;9H", "\x1b[!p", "\x1bc", "\x1bPq#0;2;0;0;0~~\x1b\\", "\x1b_Gf=32;AAAA\x1b\\", "\u009b31mx", "\x1b[1;1H\x1bM\x1bM", "\x1b[?1047hx\x1b[?47l", "\x1b[2J\x1b[3J",
	"\r\n\r\n\r\n\r\n\r\n\r\n",
}

func TestSnapshotRestoresScreen(t *testing.T) {
	for i, first := range sequences {
		for k, second := range sequences {
			t.Run(fmt.Sprint(i, "-", k), func(t *testing.T) {
				s := New(20, 5, 8)
				s.Write([]byte(first))
				s.Write([]byte(second))
				checkSnapshot(t, s)
			})
		}
	}
}

// TestSnapshotCompletesSequence checks that output which goes on after a snapshot in the middle of
// a sequence or of a character has the same effect as without one.
func TestSnapshotCompletesSequence(t *testing.T) {
	text := "a\x1b[1;31mb日\x1b]2;Ü title\x1b\\c\x1bPq~~\x1b\\d\x1b[2;3He\u0301\x1b(0q\x1b(B\x1b[?25l"
	whole := New(20, 5, 8)
	whole.Write([]byte(text))
	for i := range text {
		s, copied := New(20, 5, 8), New(20, 5, 8)
		s.Write([]byte(text[:i]))
		copied.Write(s.Snapshot())
		copied.Write([]byte(text[i:]))
		if diff := cmp.Diff(contents(whole), contents(copied)); diff != "" {
			t.Fatalf("snapshot after %q (- without, + with):\n%s", text[:i], diff)
		}
	}
}

func FuzzSnapshot(f *testing.F) {
	for _, s := range sequences {
		f.Add([]byte(s), uint8(20), uint8(5), uint8(30), uint8(3))
	}
	f.Fuzz(func(t *testing.T, p []byte, cols, rows, newCols, newRows uint8) {
		s := New(int(cols)%64, int(rows)%16, 8)
		s.Write(p)
		checkSnapshot(t, s)
		s.Resize(int(newCols)%64, int(newRows)%16)
		checkSnapshot(t, s)
		s.Write(slices.Concat([]byte("\r\n"), p))
		checkSnapshot(t, s)
	})
}
