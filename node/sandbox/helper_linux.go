package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
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

func start(h *supervisor.Helper, s Spec) (*Process, error) {
	p := newProcess()
	o := supervisor.Spec{Argv: s.Argv, Dir: s.Dir, Env: s.Env, PTY: s.PTY, Credential: s.User.credential()}
	if s.Profile.isContained() {
		o.Env = unset(s.Env, sockets...)
		o.Permissions = bounds(s.Profile)
	}
	c, err := h.Launch(o, [4]*os.File{s.Stdin, s.Stdout, s.Stderr, s.Control}, supervisor.Reports{
		Exited: func(ws syscall.WaitStatus, err error) { p.setExit(exitOf(ws), err) }, Finished: p.finish,
	})
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

// system starts commands through a helper process. The helper is started with the first command,
// and again when it was lost.
type system struct {
	set         supervisor.Settings
	unavailable string // why no helper can run; empty if one can

	mu     sync.Mutex
	helper *supervisor.Helper
	closed bool
}

func newSystem(opts Options) *system {
	s := &system{set: supervisor.Settings{Missing: opts.Missing, Wrap: wrapper(opts), Inner: []string{helperWord, innerWord}}}
	s.set.Hidden, s.set.Shown = hidden(opts)
	switch {
	case slices.Contains(opts.Missing, "helper"):
		s.unavailable = "the helper is disabled"
	case !mainCalled.Load():
		s.unavailable = "this program cannot run as its own helper"
	}
	return s
}

func (s *system) start(spec Spec) (*Process, error) {
	if s.unavailable != "" {
		return direct(spec.Argv, spec)
	}
	h, err := s.runningHelper()
	if err != nil {
		return nil, err
	}
	return start(h, spec)
}

func (s *system) runningHelper() (*supervisor.Helper, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("sandbox: closed")
	}
	if s.helper != nil && !s.helper.IsLost() {
		return s.helper, nil
	}
	h, err := startHelper(s.set)
	if err != nil {
		return nil, fmt.Errorf("sandbox: starting the helper: %w", err)
	}
	s.helper = h
	return h, nil
}

func (s *system) close() {
	s.mu.Lock()
	h := s.helper
	s.helper, s.closed = nil, true
	s.mu.Unlock()
	if h != nil {
		h.Close()
	}
}

func processTable() (list []processEntry) {
	for _, pid := range supervisor.Processes() {
		stat := supervisor.ProcessStat(pid) // state, parent, group, session, …
		if len(stat) < 4 {
			continue
		}
		parent, _ := strconv.Atoi(stat[1])
		group, _ := strconv.Atoi(stat[2])
		session, _ := strconv.Atoi(stat[3])
		list = append(list, processEntry{pid, parent, group, session})
	}
	return list
}
