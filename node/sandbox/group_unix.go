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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: s.PTY, Credential: s.User.credential()}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd: cmd, seen: map[int]bool{}}, nil
}

func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
}

func (g *group) wait() (Exit, error) {
	err := g.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
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

func (g *group) terminate() { g.signal(unix.SIGTERM) }

func (g *group) killTree() { g.signal(unix.SIGKILL) }

// signal signals all processes that can be found. After the leader is reaped, another group can get
// its number only when the whole group is gone; that this happens in between requires the process
// numbers to wrap around.
func (g *group) signal(sig syscall.Signal) {
	list := g.processes()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.killed = g.killed || sig == unix.SIGKILL
	unix.Kill(-g.cmd.Process.Pid, sig)
	for _, pid := range list {
		if pid != g.cmd.Process.Pid {
			g.seen[pid] = true
			unix.Kill(pid, sig)
		}
	}
}

func (g *group) hasProcesses() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.killed {
		return false
	}
	return unix.Kill(-g.cmd.Process.Pid, 0) == nil || len(g.processes()) > 0
}

// processes lists the running processes of the command: those in its session or group, and all
// their descendants. A process that has left the session and whose parent has ended is not found.
func (g *group) processes() []int { return family(processTable(), g.cmd.Process.Pid) }

func (g *group) killedCount() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.seen)
}

type processEntry struct{ pid, parent, group, session int }

// family lists the processes in the session or group of a leader, and all their descendants.
func family(table []processEntry, leader int) (pids []int) {
	in := map[int]bool{leader: true}
	for grown := true; grown; {
		grown = false
		for _, p := range table {
			if !in[p.pid] && (p.group == leader || p.session == leader || in[p.parent]) {
				in[p.pid], grown = true, true
			}
		}
	}
	for _, p := range table {
		if in[p.pid] {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
