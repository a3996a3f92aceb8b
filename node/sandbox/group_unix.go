//go:build unix

package sandbox

import (
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the process group and session of one command, and the processes that descend from it.
type group struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	// killed says that SIGKILL was sent: remaining processes wait to be reaped by the system's
	// first process.
	killed bool
	seen   map[int]bool // signalled processes, without the command's own
}

func startGroup(cmd *exec.Cmd, s Spec) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: s.PTY}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd: cmd, seen: map[int]bool{}}, nil
}

func (g *group) wait() (Exit, error) {
	err := g.cmd.Wait()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		return Exit{}, err
	}
	return exitOf(g.cmd.ProcessState.Sys().(syscall.WaitStatus)), nil
}

func (g *group) close() {}

func exitOf(ws syscall.WaitStatus) Exit {
	if !ws.Signaled() {
		return Exit{Code: ws.ExitStatus()}
	}
	name := unix.SignalName(ws.Signal())
	if name == "" {
		name = "SIG" + strings.TrimPrefix(ws.Signal().String(), "signal ")
	}
	return Exit{Code: -1, Signal: name}
}
