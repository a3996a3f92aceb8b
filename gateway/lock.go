package gateway

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fairlead/gateway/peer/lock"
)

// ErrInUse is returned when another gateway uses the same data folder.
var ErrInUse = errors.New("another Fairlead uses this data folder")

// lockHome locks a data folder for one gateway, until the lock is released or the process ends in
// any way.
func lockHome(home string) (*lock.Lock, error) {
	l, err := lock.Take(filepath.Join(home, "gateway.lock"), fmt.Sprintf("a gateway (process %d)", os.Getpid()))
	var held *lock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, fmt.Errorf("%w: %s. Use the one that runs, or give this one another with --home", ErrInUse, home)
	case err != nil:
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return l, nil
}
