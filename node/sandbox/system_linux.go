package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helperLimit is how long a helper may take to start, and closeLimit to end.
const (
	helperLimit = 10 * time.Second
	closeLimit  = time.Second
)

// system starts commands through a helper process, which is started with the first command and again when it was lost.
type system struct {
	set  settings
	none string // why there is no helper, or empty

	mu     sync.Mutex
	helper *helper
	closed bool
}

func newSystem(opts Options) (*system, error) {
	s := &system{set: settings{Missing: opts.Missing}}
	s.set.Hidden, s.set.Shown = hidden(opts)
	switch {
	case slices.Contains(opts.Missing, "helper"):
		s.none = "the helper is switched off"
	case !mainCalled.Load():
		s.none = "this program cannot be its own helper"
	}
	return s, nil
}

func (s *system) start(spec Spec) (*Process, error) {
	if s.none != "" {
		return direct(spec.Argv, spec)
	}
	h, err := s.alive()
	if err != nil {
		return nil, err
	}
	return h.start(spec)
}

// alive returns a running helper.
func (s *system) alive() (*helper, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("sandbox: closed")
	}
	if s.helper != nil && !s.helper.lost() {
		return s.helper, nil
	}
	h, err := startHelper(s.set)
	if err != nil {
		return nil, fmt.Errorf("sandbox: start the helper: %w", err)
	}
	s.helper = h
	return h, nil
}

func (s *system) close() error {
	s.mu.Lock()
	h := s.helper
	s.helper, s.closed = nil, true
	s.mu.Unlock()
	if h != nil {
		h.close()
	}
	return nil
}

// helper is the node's end of a helper process.
type helper struct {
	wire *wire
	cmd  *exec.Cmd
	gone chan struct{} // closed when the process is reaped and the last answer was handed out

	mu    sync.Mutex
	last  uint64
	calls map[uint64]*call
	dead  bool
}

// call is one command.
type call struct {
	process *Process
	first   chan answer // started or refused
}

// raceOptions is passed on to helpers, as a program under the race detector takes a second to end unless told otherwise.
const raceOptions = "GORACE"

// self is this program, also when an update has replaced its file.
const self = "/proc/self/exe"

func startHelper(set settings) (*helper, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "helper")
	defer theirs.Close()
	w, err := newWire(os.NewFile(uintptr(fds[0]), "helper"))
	if err != nil {
		return nil, err
	}
	// A session of its own: Ctrl-C at the node's terminal must not take away who ends the commands.
	cmd := &exec.Cmd{Path: self, Args: []string{self, helperWord, "serve"}, Dir: "/", ExtraFiles: []*os.File{theirs}, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	cmd.Env = append(environ(os.Environ(), "/", []string{raceOptions}, false), "GOGC=50")
	if err := cmd.Start(); err != nil {
		w.conn.Close()
		return nil, err
	}
	h := &helper{wire: w, cmd: cmd, gone: make(chan struct{}), calls: map[uint64]*call{}}
	ready := make(chan error, 1)
	go h.read(ready)
	if err := w.send(set); err != nil {
		ready <- err
	}
	timer := time.NewTimer(helperLimit)
	defer timer.Stop()
	select {
	case err = <-ready:
	case <-timer.C:
		err = errors.New("it does not answer")
	}
	if err != nil {
		cmd.Process.Kill()
		w.conn.Close()
		<-h.gone
		return nil, err
	}
	return h, nil
}

// read hands out the helper's answers until the helper is gone.
func (h *helper) read(ready chan<- error) {
	defer close(h.gone)
	var hello string
	err := h.wire.receive(&hello)
	if err == nil && hello != helperWord {
		err = errors.New("something else answers")
	}
	ready <- err
	for err == nil {
		var a answer
		if err = h.wire.receive(&a); err == nil {
			h.handle(a)
		}
	}
	h.mu.Lock()
	h.dead = true
	calls := h.calls
	h.calls = nil
	h.mu.Unlock()
	h.wire.conn.Close()
	h.cmd.Wait()
	for _, c := range calls {
		select {
		case c.first <- answer{Kind: refused, Err: "the helper has ended"}:
		default:
		}
		if c.process != nil {
			// Without the helper the group is all that can be found.
			unix.Kill(-c.process.pid, unix.SIGKILL)
			c.process.ended(Exit{}, errHelper)
			close(c.process.done)
		}
	}
}

func (h *helper) handle(a answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[a.ID]
	if c == nil {
		return
	}
	switch a.Kind {
	case started:
		c.process = newProcess(a.PID, func(kill bool) { h.wire.send(request{ID: a.ID, Kill: kill}) })
		c.first <- a
	case refused:
		delete(h.calls, a.ID)
		c.first <- a
	case exited:
		c.process.ended(a.Exit, nil)
	case done:
		delete(h.calls, a.ID)
		close(c.process.done)
	}
}

func (h *helper) start(s Spec) (*Process, error) {
	o := order{Profile: s.Profile, Argv: s.Argv, Dir: s.Dir, Env: s.Env, PTY: s.PTY, Supervise: s.Supervise}
	var files []*os.File
	for i, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if f != nil {
			o.Files[i] = true
			files = append(files, f)
		}
	}
	c := &call{first: make(chan answer, 1)}
	h.mu.Lock()
	if h.dead {
		h.mu.Unlock()
		return nil, fmt.Errorf("sandbox: %w", errHelper)
	}
	h.last++
	id := h.last
	h.calls[id] = c
	h.mu.Unlock()
	if err := h.wire.send(request{ID: id, Start: &o}, files...); err != nil {
		h.wire.conn.Close() // half a request may be on the way
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	switch a := <-c.first; {
	case a.Kind == started:
		return c.process, nil
	case a.Errno != 0:
		return nil, &os.PathError{Op: a.Err, Path: s.Argv[0], Err: a.Errno}
	default:
		return nil, errors.New("sandbox: " + a.Err)
	}
}

func (h *helper) lost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dead
}

// close lets the helper end its commands and itself.
func (h *helper) close() {
	h.wire.conn.CloseWrite()
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	select {
	case <-h.gone:
	case <-timer.C:
		// Killed it could not go on ending what is left; it ends with the last of it.
	}
}
