package gateway

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrInUse says that another gateway uses the same data folder.
var ErrInUse = errors.New("another Fairlead uses this data folder")

// lockHome makes sure that one gateway alone uses home, until the returned file is closed or the process ends in any way.
func lockHome(home string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(home, "gateway.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := tryLock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s. Use the one that runs, or give this one another with --home", ErrInUse, home)
	}
	return f, nil
}
