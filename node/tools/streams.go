package tools

import (
	"os"

	"fairlead/node/sandbox"
)

// streams are both ends of a command's input and output.
type streams struct {
	childIn, childOut *os.File // childIn is nil for none
	in, out           *os.File // ours; in is nil when nobody may write
	terminal          terminal // nil without one
}

// terminal is what a command runs in that was asked to.
type terminal interface {
	resize(cols, rows int) error
	// hangUp ends the terminal once its command has ended: what still runs in it loses it, and its output comes to its end.
	hangUp()
	// console is where the system starts a program in it; nil where the files do it.
	console() sandbox.Console
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
	if s.childOut != nil {
		s.childOut.Close()
	}
}

func (s *streams) close() {
	if s.terminal != nil {
		s.terminal.hangUp() // while its output is still read
	}
	if s.in != nil && s.in != s.out {
		s.in.Close()
	}
	s.out.Close()
}
