package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// How long a program waits for others that change the same file, and after how long it takes one for dead that did not finish.
const (
	aloneWait  = 5 * time.Second
	aloneStale = 10 * time.Second
)

// alone runs f while no other program that asks for the same lock file does: windows, node and command line of one data folder change the same
// file. It blocks for at most five seconds.
func alone(lock string, f func() error) error {
	for end := time.Now().Add(aloneWait); ; time.Sleep(5 * time.Millisecond) {
		file, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			file.Close()
			defer os.Remove(lock)
			return f()
		}
		// Windows refuses access to a file that is just being removed.
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) || time.Now().After(end) {
			return fmt.Errorf("wait for other programs: %w", err)
		}
		if info, err := os.Stat(lock); err == nil {
			if age := time.Since(info.ModTime()); age > aloneStale || age < -aloneStale { // the clock may have been put back since
				os.Remove(lock)
			}
		}
	}
}
