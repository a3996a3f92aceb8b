package tools

import "os"

// streams are both ends of a command's input and output.
type streams struct {
	childIn, childOut *os.File // childIn is nil for none
	in, out           *os.File // ours; in is nil when nobody may write
}

func openStreams(stdin, tty bool) (s streams, err error) {
	if tty {
		return openTerminal(stdin)
	}
	// Files need no copying goroutine that a grandchild could hold up.
	if s.out, s.childOut, err = os.Pipe(); err != nil {
		return s, err
	}
	if stdin {
		if s.childIn, s.in, err = os.Pipe(); err != nil {
			s.closeChildEnds()
			s.close()
		}
	}
	return s, err
}

func (s *streams) closeChildEnds() {
	if s.childIn != nil && s.childIn != s.childOut {
		s.childIn.Close()
	}
	s.childOut.Close()
}

func (s *streams) close() {
	if s.in != nil && s.in != s.out {
		s.in.Close()
	}
	s.out.Close()
}
