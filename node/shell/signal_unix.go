//go:build unix

package shell

import "golang.org/x/sys/unix"

// signalGroup signals the process group that a command leads.
func signalGroup(pid int, kill bool) {
	sig := unix.SIGTERM
	if kill {
		sig = unix.SIGKILL
	}
	unix.Kill(-pid, sig)
}
