//go:build unix

package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// maxCommand is slightly less than Linux accepts as one argument, in bytes.
const maxCommand = 128<<10 - 256

// Path returns the path of the shell that runs commands: the user's login shell, as in GSV.
func Path() string {
	s := os.Getenv("SHELL")
	if filepath.IsAbs(s) {
		if info, err := os.Stat(s); err == nil && info.Mode().IsRegular() && unix.Access(s, unix.X_OK) == nil {
			return s
		}
	}
	return "/bin/sh"
}

// programShell returns the shell of the tool command: programs expect a POSIX shell, whatever the
// person's own is.
func programShell() string { return "/bin/sh" }

// maxLine is the maximum length of what programShell gets, in bytes.
const maxLine = maxCommand

// isBourne reports whether our parser of shell commands understands a shell's language.
func isBourne(shell string) bool {
	switch filepath.Base(shell) {
	case "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "busybox":
		return true
	}
	return false
}

// maxPipe is more than any system's pipe can hold, in bytes.
const maxPipe = 4 << 20

// readRest copies the remaining bytes of a pipe without waiting for more: on a busy machine a
// deadline may pass before the reader has run. It reports whether a process can still write to it.
func readRest(out *os.File, w io.Writer) (open bool) {
	out.SetReadDeadline(time.Time{})
	conn, err := out.SyscallConn()
	if err != nil {
		return false
	}
	buf := make([]byte, 64<<10)
	for taken := 0; taken < maxPipe; {
		var n int
		var readErr error
		if err := conn.Read(func(fd uintptr) bool {
			n, readErr = unix.Read(int(fd), buf)
			return true
		}); err != nil {
			return false
		}
		switch {
		case errors.Is(readErr, unix.EINTR):
		case errors.Is(readErr, unix.EAGAIN):
			return true
		case n <= 0:
			return false
		default:
			w.Write(buf[:n])
			taken += n
		}
	}
	return true
}

// startError describes a failed start for the model.
func startError(err error) error {
	if errors.Is(err, unix.E2BIG) {
		return errors.New("the command and the environment are too long for this system")
	}
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// signalGroup signals the process group that a command leads.
func signalGroup(pid int, kill bool) {
	sig := unix.SIGTERM
	if kill {
		sig = unix.SIGKILL
	}
	unix.Kill(-pid, sig)
}
