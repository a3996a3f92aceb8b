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

	"fairlead/gateway/peer/crash"
	"fairlead/node/floor"
	"fairlead/node/sandbox/confine"
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

func startHelper(set supervisor.Settings, userSpace bool) (*supervisor.Helper, error) {
	cmd := &exec.Cmd{Path: self, Args: []string{self, helperWord, "serve"}, Dir: "/", Stderr: os.Stderr}
	cmd.Env = append(environ(os.Environ(), "/", []string{raceOptions}, false), "GOGC=50")
	return supervisor.Start(cmd, set, userSpace)
}

func start(h *supervisor.Helper, s Spec, r *confine.Restrictions) (*Process, error) {
	p := newProcess()
	p.restrictions = r
	o := supervisor.Spec{Argv: s.Argv, Dir: s.Dir, Env: s.Env, PTY: s.PTY, Credential: s.User.credential(), Restrictions: r}
	if r != nil {
		o.Env = unset(s.Env, sockets...)
	}
	c, err := h.Launch(o, [4]*os.File{s.Stdin, s.Stdout, s.Stderr, s.Control}, supervisor.Reports{
		Exited: func(ws syscall.WaitStatus, refused []string, err error) {
			p.refused = refused
			p.setExit(exitOf(ws), err)
		},
		Finished: p.finish,
	})
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	p.pid, p.terminate, p.kill, p.list = c.PID, c.Terminate, c.Kill, c.Processes
	return p, nil
}

// system starts commands through a helper process. The helper is started with the first command,
// and again when it was lost.
type system struct {
	set         supervisor.Settings
	unavailable string // why no helper can run; empty if one can
	floor       *floor.List
	temps       tempGuard
	protects    bool // files that start programs later are read-only
	// userSpace says that contained commands need a helper with a name space of users of its own.
	userSpace bool

	mu      sync.Mutex
	helpers [2]*supervisor.Helper // for contained commands, for others
	closed  bool
	// tempLock is held as long as the folder set.Temp is in use.
	tempLock *os.File
}

func newSystem(opts Options) *system {
	s := &system{set: supervisor.Settings{Missing: opts.Missing, Wrap: wrapper(opts), Inner: []string{helperWord, innerWord}}, floor: opts.Floor}
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
	var r *confine.Restrictions
	if spec.Profile.isContained() {
		spec.Profile.Unprotected = spec.Profile.Unprotected || !s.protects
		r = spec.Profile.restrictions(s.floor)
	}
	h, err := s.runningHelper(r != nil)
	if err != nil {
		return nil, err
	}
	since := fileClock()
	p, err := start(h, spec, r)
	if err == nil && r != nil {
		s.temps.watch(p, tempStart{s.set.TempFolder(r), since})
	}
	return p, err
}

func (s *system) runningHelper(contained bool) (*supervisor.Helper, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("sandbox: closed")
	}
	which := &s.helpers[0]
	if !contained && s.userSpace {
		which = &s.helpers[1]
	}
	if *which != nil && !(*which).IsLost() {
		return *which, nil
	}
	if err := s.makeTemp(); err != nil {
		return nil, fmt.Errorf("sandbox: creating a private temporary folder: %w", err)
	}
	h, err := startHelper(s.set, contained && s.userSpace)
	if err != nil {
		return nil, fmt.Errorf("sandbox: starting the helper: %w", err)
	}
	*which = h
	return h, nil
}

// makeTemp creates the folder of the private temporary folders. The caller holds mu.
func (s *system) makeTemp() (err error) {
	if s.tempLock == nil {
		s.set.Temp, s.tempLock, err = supervisor.MakeTemp()
	}
	return err
}

func (s *system) privateTemp(p Profile) string {
	if !s.protects {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.makeTemp() != nil {
		return ""
	}
	p.Unprotected = true // what is protected does not matter
	dir := s.set.PrivateTemp(p.restrictions(s.floor))
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}

func (s *system) close() {
	s.mu.Lock()
	helpers := s.helpers
	s.helpers, s.closed = [2]*supervisor.Helper{}, true
	s.mu.Unlock()
	var closing crash.Group
	for _, h := range helpers {
		if h != nil {
			closing.Go(h.Close)
		}
	}
	closing.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tempLock != nil {
		os.RemoveAll(s.set.Temp)
		s.tempLock.Close()
		s.tempLock = nil
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
