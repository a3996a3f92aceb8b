package confine

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
)

// BenchmarkWatchedWrites creates files in a thread whose opens for writing nobody watches, and in one
// whose opens wait until another thread has read the path. It shows what a list of refused attempts
// would cost: see refusedPaths in node/shell.
func BenchmarkWatchedWrites(b *testing.B) {
	for _, isWatched := range []bool{false, true} {
		b.Run("watched="+strconv.FormatBool(isWatched), func(b *testing.B) {
			name := filepath.Join(b.TempDir(), "file")
			done := make(chan error, 1)
			crash.Go(func() {
				runtime.LockOSThread() // the thread ends with its goroutine
				if isWatched {
					w, err := watchOpens()
					if err != nil {
						done <- err
						return
					}
					crash.Go(func() { answerOpens(w) })
				}
				for range b.N {
					fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
					if err != nil {
						done <- err
						return
					}
					unix.Close(fd)
				}
				done <- nil
			})
			if err := <-done; err != nil {
				b.Skip(err)
			}
		})
	}
}

// watchOpens makes the calling thread ask before it opens a file for writing.
func watchOpens() (Watch, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return Watch{}, err
	}
	const atArg2 = atArg0 + 16
	prog := []unix.SockFilter{
		{Code: load, K: atNumber},
		{Code: equal, Jf: 3, K: unix.SYS_OPENAT},
		{Code: load, K: atArg2},
		{Code: bits, Jf: 1, K: unix.O_WRONLY | unix.O_RDWR},
		{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: ret, K: allow},
	}
	f := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&f)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return Watch{}, errno
	}
	return Watch{os.NewFile(fd, "opens")}, nil
}

// answerOpens lets every open continue after it has read the path, as a list of attempts needs it.
func answerOpens(w Watch) {
	defer w.Close()
	for {
		e, ok := w.Next()
		if !ok {
			return
		}
		if mem, err := os.Open("/proc/" + strconv.Itoa(e.Thread) + "/mem"); err == nil {
			var path [256]byte
			mem.ReadAt(path[:], int64(e.Argv))
			mem.Close()
		}
		w.Answer(e, true)
	}
}
