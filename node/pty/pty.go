// Package pty opens terminals in which programs run: a pair of devices on Unix, a pseudo console on
// Windows.
package pty

import (
	"os"

	"fairlead/node/sandbox"
)

// PTY is our side of a terminal. Its methods are safe for concurrent use.
type PTY struct {
	// Child is the program's side, for its input and its output. The caller closes it after the start
	// of the program. It is nil where the program starts in a console.
	Child *os.File
	// In and Out are the program's input and output. They may be the same file.
	In, Out *os.File
	device  device
}

// device is what a system has beside the files. Package xpty of charmbracelet would wrap the same
// two libraries and still need code for each system: it has no common way to get at the files that a
// command of the sandbox needs.
type device interface {
	resize(cols, rows int) error
	hangUp()
	console() sandbox.Console
}

// Resize sets the size in cells.
func (p *PTY) Resize(cols, rows int) error { return p.device.resize(cols, rows) }

// HangUp closes the terminal once its program has ended: remaining programs lose it, and its output
// ends. The output must be read until then.
func (p *PTY) HangUp() { p.device.hangUp() }

// Console returns the console in which the system starts a program; nil where the files are enough.
func (p *PTY) Console() sandbox.Console { return p.device.console() }

// EndInput ends the input of programs that read lines. It is called before the program starts.
func (p *PTY) EndInput() {
	p.In.WriteString(endOfInput) // a new terminal has room for it
	if p.In != p.Out {
		p.In.Close()
	}
	p.In = nil
}

// Close hangs up and closes our files.
func (p *PTY) Close() {
	p.HangUp() // while its output is still being read
	if p.In != nil && p.In != p.Out {
		p.In.Close()
	}
	p.Out.Close()
}
