// Package lock has the programs of one computer see which of them does something that one at a time may do. The system lets go of a lock when its program
// ends, in whatever way.
package lock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Lock is held until Release.
type Lock struct{ f *os.File }

// HeldError says that another program has it.
type HeldError struct {
	By string // what that said of itself; may be empty
}

func (e *HeldError) Error() string {
	if e.By == "" {
		return "another program has it"
	}
	return e.By + " has it"
}

// maxBy bounds what is read of who has a lock.
const maxBy = 200

// Take takes the lock in a file, which is made with its folder and stays; by is what others are told, a line. A lock that another program has, or this
// one, is a *HeldError at once.
func Take(name, by string) (*Lock, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			f, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open a lock: %w", err)
	}
	switch err := try(f); {
	case errors.Is(err, errHeld):
		defer f.Close()
		said, _ := io.ReadAll(io.LimitReader(f, maxBy)) // who it is helps, and is not needed
		line, _, _ := strings.Cut(string(said), "\n")
		return nil, &HeldError{By: line}
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	if err := f.Truncate(0); err == nil {
		f.WriteAt([]byte(by+"\n"), 0)
	}
	return &Lock{f}, nil
}

// Release lets others take it.
func (l *Lock) Release() {
	l.f.Truncate(0)
	l.f.Close()
}

var errHeld = errors.New("held")
