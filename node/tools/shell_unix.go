//go:build unix

package tools

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox"
)

// maxCommand is a little under what Linux takes as one argument.
const maxCommand = 128<<10 - 256

// shell is what runs commands: the user's login shell (seed 000, Execution Model).
func shell() string {
	s := os.Getenv("SHELL")
	if filepath.IsAbs(s) {
		if info, err := os.Stat(s); err == nil && info.Mode().IsRegular() && unix.Access(s, unix.X_OK) == nil {
			return s
		}
	}
	return "/bin/sh"
}

// bourne reports whether a shell reads what a parser of shell commands understands.
func bourne(shell string) bool {
	switch filepath.Base(shell) {
	case "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "busybox":
		return true
	}
	return false
}

func shellArgs(shell, command string) []string { return []string{shell, "-lc", command} }

func shellCommand(shell, command string, tty bool) *exec.Cmd {
	args := shellArgs(shell, command)
	cmd := exec.Command(args[0], args[1:]...)
	// A session of its own: the group can be signalled as a whole, and nothing in it can take over the node's terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: tty}
	return cmd
}

// terminate asks every process of the group to end.
func terminate(cmd *exec.Cmd) { unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }

// kill ends every process of the group. It is called before the leader is reaped where the system lets us wait without reaping, so
// that the number cannot mean anyone else.
func kill(cmd *exec.Cmd) { unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }

// ended says how a reaped process ended: by exit code or by signal.
func ended(state *os.ProcessState) sandbox.Exit {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		name := unix.SignalName(ws.Signal())
		if name == "" {
			name = "SIG" + strings.TrimPrefix(ws.Signal().String(), "signal ")
		}
		return sandbox.Exit{Code: -1, Signal: name}
	}
	return sandbox.Exit{Code: state.ExitCode()}
}

// maxPipe is more than any system keeps in a pipe.
const maxPipe = 4 << 20

// takeRest copies what is in a pipe without waiting for more: on a busy machine a deadline may pass before the reader had its turn. It reports
// whether someone can still write to it.
func takeRest(out *os.File, w io.Writer) (open bool) {
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

// startError words a failed start for the model.
func startError(err error) error {
	var pe *os.PathError
	switch {
	case errors.Is(err, unix.E2BIG):
		return errors.New("the command and the environment are too long for this system")
	case errors.As(err, &pe):
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// shellLine is for Windows only.
func shellLine(string, string) string { return "" }

// startCommand starts cmd. Here a terminal is a file like others.
func startCommand(cmd *exec.Cmd, _ sandbox.Console) error { return cmd.Start() }
