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

// group is the process group and session of one command.
type group struct {
	cmd    *exec.Cmd
	mu     sync.Mutex
	killed bool
}

func startGroup(cmd *exec.Cmd, s Spec) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: s.PTY}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd: cmd}, nil
}

func (g *group) wait() (Exit, error) {
	err := g.cmd.Wait()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		return Exit{}, err
	}
	return exitOf(g.cmd.ProcessState.Sys().(syscall.WaitStatus)), nil
}

// signal reaches the group. Once the leader is reaped its number may be another's only when the whole group is gone, in which case the
// chance of a new group with the same number in between is that of the process numbers going round.
func (g *group) signal(kill bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.killed = g.killed || kill
	unix.Kill(-g.cmd.Process.Pid, signalOf(kill))
}

// alive reports whether the group has processes left. Nobody survives a kill; who is only not reaped yet by the system's first process does not
// count.
func (g *group) alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.killed && unix.Kill(-g.cmd.Process.Pid, 0) == nil
}

func (g *group) close() {}

func signalOf(kill bool) syscall.Signal {
	if kill {
		return unix.SIGKILL
	}
	return unix.SIGTERM
}

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
