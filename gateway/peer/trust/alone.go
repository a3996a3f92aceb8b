package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// The maximum wait for other programs that change the same file, and the age at which a lock file
// counts as left behind by a crashed program.
const (
	aloneWait  = 5 * time.Second
	aloneStale = 10 * time.Second
)

// alone runs f under a lock file, because windows, the node and the command line of one data folder
// change the same file. It waits for at most five seconds.
func alone(lock string, f func() error) error {
	for end := time.Now().Add(aloneWait); ; time.Sleep(5 * time.Millisecond) {
		file, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			file.Close()
			defer os.Remove(lock)
			return f()
		}
		// Windows denies access to a file while it is being removed.
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) || time.Now().After(end) {
			return fmt.Errorf("wait for other programs: %w", err)
		}
		if info, err := os.Stat(lock); err == nil {
			if age := time.Since(info.ModTime()); age > aloneStale || age < -aloneStale { // a negative age means that the clock was set back
				os.Remove(lock)
			}
		}
	}
}
