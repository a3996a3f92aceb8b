package shell

import (
	"os"

	"golang.org/x/sys/unix"
)

// largePipe is the largest pipe of an ordinary user, in bytes. The total of a user's pipes is
// limited too, so only commands with much output get one.
const largePipe = 1 << 20

// enlargePipe enlarges a pipe, so that writer and reader alternate less often.
func enlargePipe(f *os.File) {
	if conn, err := f.SyscallConn(); err == nil {
		// If the system refuses, the size stays.
		conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, largePipe) })
	}
}
