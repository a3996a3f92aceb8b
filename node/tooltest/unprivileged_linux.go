package tooltest

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// Unprivileged runs f as a user to whom the permissions of files apply. Root can read everything,
// so its f runs on a thread of the user nobody. The thread ends with its goroutine, which never
// unlocks it.
func Unprivileged(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}
