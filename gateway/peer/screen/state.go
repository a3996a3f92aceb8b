package screen

// state is what sequences change: the buffers, the cursor, the modes and the history.
type state struct {
	main, alternate grid
	active          *grid
	cursor          cursor
	modes           Modes
	tabs            []bool // by column
	history         history
	clusters, links table
}

// Limits of the tables. A style has 16 bits for the number of a link.
const (
	maxClusters = 1 << 16
	maxLinks    = 1<<16 - 1
)

func newState(cols, rows, history int) *state {
	s := &state{}
	s.history.limit, s.history.clusters = history, &s.clusters
	s.reset(cols, rows)
	return s
}

// reset brings everything but the history's limit to the state of a new screen.
func (s *state) reset(cols, rows int) {
	s.main, s.alternate = newGrid(cols, rows, cell{}), newGrid(cols, rows, cell{})
	s.active = &s.main
	s.cursor, s.modes, s.tabs = cursor{}, newModes(), newTabs(cols)
	s.clusters, s.links = newTable(maxClusters), newTable(maxLinks)
	s.history.clear()
}

// softReset is DECSTR: everything but the text.
func (s *state) softReset() {
	old := s.modes
	s.modes = newModes()
	s.modes.Alternate, s.modes.Mouse, s.modes.MouseFormat = old.Alternate, old.Mouse, old.MouseFormat
	s.active.saved = cursor{}
	s.cursor.pen, s.cursor.charset = Style{}, charset{}
	s.active.top, s.active.bottom = 0, len(s.active.rows)-1
}

func newTabs(cols int) []bool {
	tabs := make([]bool, cols)
	for x := 0; x < cols; x += 8 {
		tabs[x] = true
	}
	return tabs
}

// blank is what takes the place of erased text.
func (s *state) blank() cell { return cell{style: Style{Background: s.cursor.pen.Background}} }

// switchTo shows the alternate or the main buffer. The alternate one is always empty at first.
func (s *state) switchTo(alternate bool) {
	if alternate == s.modes.Alternate {
		return
	}
	s.modes.Alternate = alternate
	if alternate {
		s.alternate = newGrid(s.main.cols, len(s.main.rows), s.blank())
		s.active = &s.alternate
	} else {
		s.active = &s.main
	}
	s.clamp()
}
