// Package lock lets only one of this computer's programs do something at a time. The system
// releases a lock when its program ends, however it ends.
package lock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// Lock is an acquired lock.
type Lock struct {
	file   *flock.Flock
	holder string // path of the file with the holder's description
}

// HeldError reports that another program holds the lock.
type HeldError struct {
	Holder string // the holder's own description; may be empty
}

func (e *HeldError) Error() string {
	if e.Holder == "" {
		return "another program holds the lock"
	}
	return e.Holder + " holds the lock"
}

// Acquire acquires the lock on a file. It creates the file and its folder; the file is never
// deleted. description is one line that describes the program to others. If the lock is held, by
// another program or this one, Acquire returns a *HeldError without waiting.
//
// The description is in a second file, because Windows does not let others read a locked file.
func Acquire(name, description string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	l := &Lock{flock.New(name, flock.SetPermissions(0o600)), name + ".holder"}
	switch acquired, err := l.file.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", name, err)
	case !acquired:
		text, _ := os.ReadFile(l.holder) // only for the message; may be missing
		return nil, &HeldError{strings.TrimSpace(string(text))}
	}
	os.WriteFile(l.holder, []byte(description+"\n"), 0o600) // without it, others get no name
	return l, nil
}

// Release releases the lock.
func (l *Lock) Release() {
	os.Remove(l.holder)
	l.file.Unlock()
}
