package tools

import (
	"errors"
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitExit blocks until the process has ended and leaves it unreaped: its number, which is also the group's, stays taken.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// reap collects the ended process.
func reap(cmd *exec.Cmd) { cmd.Wait() } // the exit status is in ProcessState
