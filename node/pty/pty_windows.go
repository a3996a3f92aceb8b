package pty

import (
	"fmt"
	"os"
	"sync"

	"github.com/charmbracelet/x/conpty"
	"golang.org/x/sys/windows"

	"fairlead/node/sandbox"
)

// endOfInput are the characters that end the input of a program that reads lines from a console.
const endOfInput = "\x1a\r"

// Open opens a pseudo console of a size in cells. It needs Windows 10 of October 2018 or later.
func Open(cols, rows int) (*PTY, error) {
	c, err := conpty.New(cols, rows, 0)
	if err != nil {
		return nil, fmt.Errorf("opening a pseudo console (Windows 10 version 1809 or later): %w", err)
	}
	p := &PTY{device: &pseudo{c: c}}
	if p.In, err = ownEnd(c.InPipeWriteFd(), "terminal input"); err != nil {
		p.HangUp()
		return nil, err
	}
	if p.Out, err = ownEnd(c.OutPipeReadFd(), "terminal output"); err != nil {
		p.HangUp()
		p.In.Close()
		return nil, err
	}
	return p, nil
}

// ownEnd makes a file of a pipe's end that also remains the console's.
func ownEnd(handle uintptr, name string) (*os.File, error) {
	var own windows.Handle
	self := windows.CurrentProcess()
	if err := windows.DuplicateHandle(self, windows.Handle(handle), self, &own, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
		return nil, fmt.Errorf("duplicating the handle of the %s: %w", name, err)
	}
	return os.NewFile(uintptr(own), name), nil
}

// pseudo is a pseudo console.
type pseudo struct {
	mu     sync.Mutex // guards closed
	closed bool
	c      *conpty.ConPty
}

func (p *pseudo) resize(cols, rows int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return os.ErrClosed
	}
	return p.c.Resize(cols, rows)
}

// hangUp implements device. Windows ends the remaining programs of the console, which may take some
// seconds.
func (p *pseudo) hangUp() {
	p.mu.Lock()
	was := p.closed
	p.closed = true
	p.mu.Unlock()
	if !was {
		p.c.Close()
	}
}

func (p *pseudo) console() sandbox.Console { return p.c }
