package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"fairlead/node/sandbox/supervisor"
)

// raceOptions is passed on to helpers, because a program with the race detector otherwise takes a
// second to end.
const raceOptions = "GORACE"

// self is this program, even when an update has replaced its file.
const self = "/proc/self/exe"

// innerWord is the argument that makes this program become a command inside bubblewrap.
const innerWord = "inner"

// helperMain runs a helper process.
func helperMain(args []string) int {
	var err error
	switch {
	case len(args) == 1 && args[0] == "serve":
		err = supervisor.Serve()
	case len(args) == 1 && args[0] == innerWord:
		runtime.LockOSThread()
		err = supervisor.Inner()
	case len(args) == 2 && args[0] == "try":
		err = attemptAll(args[1])
	case len(args) == 1 && args[0] == "linger":
		time.Sleep(time.Minute)
	default:
		err = errors.New("unknown arguments")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox helper:", err)
		return 1
	}
	return 0
}

func startHelper(set supervisor.Settings) (*supervisor.Helper, error) {
	cmd := &exec.Cmd{Path: self, Args: []string{self, helperWord, "serve"}, Dir: "/", Stderr: os.Stderr}
	cmd.Env = append(environ(os.Environ(), "/", []string{raceOptions}, false), "GOGC=50")
	return supervisor.Start(cmd, set)
}

// start starts a command through a helper.
func start(h *supervisor.Helper, s Spec) (*Process, error) {
	p := newProcess()
	o := supervisor.Spec{Argv: s.Argv, Dir: s.Dir, Env: s.Env, PTY: s.PTY}
	if s.Profile.isContained() {
		o.Env = unset(s.Env, sockets...)
		o.Permissions = bounds(s.Profile)
	}
	c, err := h.Launch(o, [3]*os.File{s.Stdin, s.Stdout, s.Stderr}, watcher{p})
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	p.pid, p.terminate, p.kill, p.list = c.PID, c.Terminate, c.Kill, c.Processes
	return p, nil
}

func bounds(p Profile) *supervisor.Permissions {
	b := &supervisor.Permissions{Network: p.Network == NetAllowed, Read: slices.Clone(p.Read)}
	if p.Workspace != "" {
		b.Read = append(b.Read, p.Workspace)
	}
	if p.Mode == WorkspaceWrite {
		if p.Workspace != "" {
			b.Write = append(b.Write, p.Workspace)
		}
		b.Write = append(b.Write, p.Write...)
	}
	return b
}

// watcher passes the helper's reports to a Process.
type watcher struct{ p *Process }

func (w watcher) Ended(ws syscall.WaitStatus, err error) {
	if err != nil {
		w.p.setExit(Exit{}, err)
		return
	}
	w.p.setExit(exitOf(ws), nil)
}

func (w watcher) Gone(ended int) { w.p.finish(ended) }
