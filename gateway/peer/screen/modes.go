package screen

// Modes are what the program switched on, as far as it matters for keys, mouse and windows.
type Modes struct {
	CursorKeys     bool // arrows send ESC O instead of ESC [
	Keypad         bool // the number pad sends sequences of its own
	BracketedPaste bool
	FocusEvents    bool // the program wants to know when the window gets and loses the focus
	Alternate      bool // the buffer without history is shown
	Mouse          int  // the number of the mouse mode: 9, 1000, 1002 or 1003; 0: none
	MouseFormat    int  // 1005, 1006, 1015 or 1016; 0: the oldest
	CursorHidden   bool
	CursorShape    int // as in DECSCUSR, 0 to 6

	wraps, insert, origin, newLine bool
	alternateScroll, blinks        bool
	reverseWrap                    bool
}

func newModes() Modes { return Modes{wraps: true} }

// flag returns where a mode is stored that is only on or off. inverted: off means true.
func (m *Modes) flag(private bool, n int) (flag *bool, inverted bool) {
	if !private {
		switch n {
		case 4:
			return &m.insert, false
		case 20:
			return &m.newLine, false
		}
		return nil, false
	}
	switch n {
	case 1:
		return &m.CursorKeys, false
	case 6:
		return &m.origin, false
	case 7:
		return &m.wraps, false
	case 12:
		return &m.blinks, false
	case 25:
		return &m.CursorHidden, true
	case 45:
		return &m.reverseWrap, false
	case 66:
		return &m.Keypad, false
	case 1004:
		return &m.FocusEvents, false
	case 1007:
		return &m.alternateScroll, false
	case 2004:
		return &m.BracketedPaste, false
	}
	return nil, false
}

// choice returns where a mode is stored that excludes others, by its number.
func (m *Modes) choice(n int) *int {
	switch n {
	case 9, 1000, 1002, 1003:
		return &m.Mouse
	case 1005, 1006, 1015, 1016:
		return &m.MouseFormat
	}
	return nil
}

// setMode carries out CSI h and CSI l.
func (s *state) setMode(private bool, n int, on bool) {
	if flag, inverted := s.modes.flag(private, n); flag != nil {
		*flag = on != inverted
		if private && n == 6 {
			s.moveTo(0, 0)
		}
		s.clamp()
		return
	}
	if !private {
		return
	}
	if choice := s.modes.choice(n); choice != nil {
		if on {
			*choice = n
		} else {
			*choice = 0
		}
		return
	}
	switch {
	case n == 47, n == 1047:
		s.switchTo(on)
	case n == 1048 && on:
		s.save()
	case n == 1048:
		s.restore()
	case n == 1049 && on:
		s.save()
		s.switchTo(true)
	case n == 1049:
		s.switchTo(false)
		s.restore()
	}
}

// report returns the value of DECRQM's answer: 0 unknown, 1 on, 2 off.
func (m *Modes) report(private bool, n int) int {
	on := false
	flag, inverted := m.flag(private, n)
	switch choice := m.choice(n); {
	case flag != nil:
		on = *flag != inverted
	case private && choice != nil:
		on = *choice == n
	case private && (n == 47 || n == 1047 || n == 1049):
		on = m.Alternate
	case private && n == 2026: // synchronized output: nothing is shown in between anyway
	default:
		return 0
	}
	if on {
		return 1
	}
	return 2
}
