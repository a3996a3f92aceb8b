package screen

// lineFeed moves the cursor down, and scrolls at the bottom of the region.
func (s *state) lineFeed() {
	s.cursor.pending = false
	switch s.cursor.y {
	case s.active.bottom:
		s.scrollUp(1)
	case len(s.active.rows) - 1:
	default:
		s.cursor.y++
	}
}

// scrollUp scrolls the region after a line break at its end. Lines that leave the main buffer at
// the top go to the history.
func (s *state) scrollUp(n int) {
	var leave func(*row)
	if s.active == &s.main && s.main.top == 0 {
		leave = s.history.push
	}
	s.active.scrollUp(s.active.top, s.active.bottom, n, s.blank(), leave)
}

// reverseLineFeed moves the cursor up, and scrolls at the top of the region.
func (s *state) reverseLineFeed() {
	s.cursor.pending = false
	switch s.cursor.y {
	case s.active.top:
		s.active.scrollDown(s.active.top, s.active.bottom, 1, s.blank())
	case 0:
	default:
		s.cursor.y--
	}
}

// moveTo moves the cursor to a place on the screen, or in the region if the origin mode is on.
func (s *state) moveTo(x, y int) {
	if s.modes.origin {
		y += s.active.top
	}
	s.cursor.x, s.cursor.y = x, y
	s.clamp()
	s.cursor.pending = false
}

// clamp moves the cursor to the nearest place where it can be.
func (s *state) clamp() {
	top, bottom := 0, len(s.active.rows)-1
	if s.modes.origin {
		top, bottom = s.active.top, s.active.bottom
	}
	s.cursor.x = min(max(s.cursor.x, 0), s.active.cols-1)
	s.cursor.y = min(max(s.cursor.y, top), bottom)
	s.cursor.pending = s.cursor.pending && s.cursor.x == s.active.cols-1 && s.modes.wraps
}

// moveUp moves the cursor by n rows up, but not out of the region.
func (s *state) moveUp(n int) {
	limit := 0
	if s.cursor.y >= s.active.top {
		limit = s.active.top
	}
	s.cursor.y, s.cursor.pending = max(s.cursor.y-n, limit), false
}

// moveDown moves the cursor by n rows down, but not out of the region.
func (s *state) moveDown(n int) {
	limit := len(s.active.rows) - 1
	if s.cursor.y <= s.active.bottom {
		limit = s.active.bottom
	}
	s.cursor.y, s.cursor.pending = min(s.cursor.y+n, limit), false
}

// tab moves the cursor over n tab stops, to the left if n is negative.
func (s *state) tab(n int) {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	last := s.active.cols - 1
	for x := s.cursor.x + step; n > 0 && x >= 0 && x <= last; x += step {
		s.cursor.x = x
		if s.tabs[x] {
			n--
		}
	}
	s.cursor.pending = s.cursor.pending && step > 0
}

func (s *state) save() { s.active.saved = s.cursor }

func (s *state) restore() {
	s.cursor = s.active.saved
	s.clamp()
}

// setRegion sets the rows that scroll, and moves the cursor to the origin.
func (s *state) setRegion(top, bottom int) {
	bottom = min(bottom, len(s.active.rows)-1)
	if top < bottom {
		s.active.top, s.active.bottom = top, bottom
		s.moveTo(0, 0)
	}
}

// insertLines inserts n lines at the cursor, or deletes -n.
func (s *state) insertLines(n int) {
	g := s.active
	if s.cursor.y < g.top || s.cursor.y > g.bottom {
		return
	}
	if n > 0 {
		g.scrollDown(s.cursor.y, g.bottom, n, s.blank())
	} else {
		g.scrollUp(s.cursor.y, g.bottom, -n, s.blank(), nil)
	}
	s.cursor.x, s.cursor.pending = 0, false
}

// align fills the screen with the letter E (DECALN).
func (s *state) align() {
	for _, r := range s.active.rows {
		r.fill(0, s.active.cols, cell{glyph: 'E'})
		r.wrapped = false
	}
	s.active.top, s.active.bottom = 0, len(s.active.rows)-1
	s.modes.origin = false
	s.moveTo(0, 0)
}

// lineDrawing returns the character of DEC's special graphics for a byte.
func lineDrawing(b byte) rune {
	if b < '`' || b > '~' {
		return rune(b)
	}
	return lineCharacters[b-'`']
}

var lineCharacters = []rune("◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
