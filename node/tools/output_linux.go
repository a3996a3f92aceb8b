package tools

import (
	"os"

	"golang.org/x/sys/unix"
)

// widePipe is the largest pipe that an ordinary user may have. What all of a user's pipes may hold is bounded too, so only floods get one.
const widePipe = 1 << 20

// widen lets a pipe hold more, so that writer and reader take turns less often.
func widen(f *os.File) {
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, widePipe) }) // refused, it stays as it is
	}
}
