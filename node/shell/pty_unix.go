//go:build unix

package shell

import (
	"os"

	"github.com/creack/pty"

	"fairlead/node/sandbox"
)

// endOfInput is the character that ends the input of a program that reads lines from a terminal.
const endOfInput = "\x04"

// openTerminal opens a terminal; without stdin its input ends immediately. Package xpty of
// charmbracelet would wrap the same two libraries and still need code for each system: it has no
// common way to get at the files that a command of the sandbox needs.
func openTerminal(stdin bool) (streams, error) {
	ours, theirs, err := pty.Open()
	if err != nil {
		return streams{}, err
	}
	s := streams{childIn: theirs, childOut: theirs, out: ours, terminal: ptyDevice{ours}}
	if err := s.terminal.resize(defaultCols, defaultRows); err != nil {
		s.closeChildEnds()
		s.close()
		return streams{}, err
	}
	if stdin {
		s.in = ours
	} else {
		ours.WriteString(endOfInput) // a new terminal has room for it
	}
	return s, nil
}

// ptyDevice is our end of a terminal. Closing its file hangs it up.
type ptyDevice struct{ file *os.File }

func (d ptyDevice) resize(cols, rows int) error {
	return pty.Setsize(d.file, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

func (ptyDevice) hangUp()                  {}
func (ptyDevice) console() sandbox.Console { return nil }
