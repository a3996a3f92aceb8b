//go:build unix

package pty

import (
	"os"

	"github.com/creack/pty"

	"fairlead/node/sandbox"
)

// endOfInput is the character that ends the input of a program that reads lines from a terminal.
const endOfInput = "\x04"

// Open opens a terminal of a size in cells.
func Open(cols, rows int) (*PTY, error) {
	ours, theirs, err := pty.Open()
	if err != nil {
		return nil, err
	}
	p := &PTY{Child: theirs, In: ours, Out: ours, device: pair{ours}}
	if err := p.Resize(cols, rows); err != nil {
		theirs.Close()
		p.Close()
		return nil, err
	}
	return p, nil
}

// pair is our end of a pair of devices. Closing its file hangs it up.
type pair struct{ file *os.File }

func (d pair) resize(cols, rows int) error {
	return pty.Setsize(d.file, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

func (pair) hangUp()                  {}
func (pair) console() sandbox.Console { return nil }
