package screen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// screenText is the text of a screen as testdata/xterm/expect.mjs writes it.
func screenText(s *Screen) string {
	var b strings.Builder
	first := -s.HistoryLines()
	if s.Modes().Alternate {
		first = 0
	}
	_, rows := s.Size()
	for i := first; i < rows; i++ {
		fmt.Fprintln(&b, s.Text(i))
	}
	x, y := s.Cursor()
	fmt.Fprintln(&b, "cursor", x, y)
	return b.String()
}

// TestScreenShowsWhatXtermShows compares recordings of programs, and of the sequences that vttest
// writes, with what xterm.js 6 shows after them; snapshots too.
func TestScreenShowsWhatXtermShows(t *testing.T) {
	files, err := filepath.Glob("testdata/xterm/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("recordings: got %d, %v; want at least 10", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			recording, err := os.ReadFile(strings.TrimSuffix(file, ".txt"))
			if err != nil {
				t.Fatal(err)
			}
			var cols, rows int
			if _, err := fmt.Sscanf(filepath.Ext(name), ".%dx%d", &cols, &rows); err != nil {
				t.Fatal(err)
			}
			s := New(cols, rows, 2000)
			s.Write(recording)
			if diff := cmp.Diff(string(want), screenText(s)); diff != "" {
				t.Errorf("screen (- xterm.js, + this package):\n%s", diff)
			}
			checkSnapshot(t, s)
		})
	}
}
