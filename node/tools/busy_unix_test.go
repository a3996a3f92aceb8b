//go:build unix

package tools

import (
	"syscall"
	"time"
)

// busy is how long this process has kept processors busy.
func busy() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
