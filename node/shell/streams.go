package shell

import (
	"os"

	"fairlead/node/sandbox"
)

// streams are both ends of a command's input and output.
type streams struct {
	childIn, childOut *os.File // childIn is nil if there is no input
	in, out           *os.File // our ends; in is nil when the input cannot be written
	terminal          terminal // nil if it does not have any
}

// terminal is the terminal of a command that requested one.
type terminal interface {
	resize(cols, rows int) error
	// hangUp closes the terminal once its command has ended: remaining programs lose it, and its
	// output ends.
	hangUp()
	// console returns the console in which the system starts a program; nil where the files are
	// enough.
	console() sandbox.Console
}

func openStreams(stdin, tty bool) (s streams, err error) {
	if tty {
		return openTerminal(stdin)
	}
	// With files, no copying goroutine is needed, which a grandchild could block.
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
		s.terminal.hangUp() // while its output is still being read
	}
	if s.in != nil && s.in != s.out {
		s.in.Close()
	}
	s.out.Close()
}

// Default size of a terminal.
const (
	defaultCols  = 120
	defaultRows  = 40
	maxDimension = 10_000
)
