// Package lock provides a file lock between the programs of one computer. The system releases a
// lock when its program ends, however it ends.
package lock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Lock is a held lock. Release releases it.
type Lock struct{ f *os.File }

// HeldError reports that another program holds the lock.
type HeldError struct {
	By string // the holder's own description; may be empty
}

func (e *HeldError) Error() string {
	if e.By == "" {
		return "another program has it"
	}
	return e.By + " has it"
}

// maxBy is the maximum number of bytes to read of the holder's description.
const maxBy = 200

// Take acquires the lock on a file. It creates the file and its folder; the file is never deleted.
// by is one line that describes the holder to other programs. If the lock is held, by another
// program or this one, Take returns a *HeldError without waiting.
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
		said, _ := io.ReadAll(io.LimitReader(f, maxBy)) // only for the message; may be missing
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

// Release releases the lock.
func (l *Lock) Release() {
	l.f.Truncate(0)
	l.f.Close()
}

var errHeld = errors.New("held")
