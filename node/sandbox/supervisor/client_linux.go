package supervisor

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
	"fairlead/node/sandbox/confine"
)

const (
	// startLimit is how long a helper may take to answer, and launchLimit how long it may take to
	// start a command. On a very busy machine it may take seconds. closeLimit is how long Close waits
	// for it to end.
	startLimit  = 20 * time.Second
	launchLimit = time.Minute
	closeLimit  = time.Second
)

// ErrLost is the error for a command whose helper ended before it.
var ErrLost = errors.New("the helper that supervised the command has ended; the command's outcome is unknown")

// errStuck is the error for a command that its helper did not start in time.
var errStuck = errors.New("the helper that starts commands did not respond, so it was ended, and with it all of its commands; the next command starts a new one")

// Settings apply to all commands of a helper.
type Settings struct {
	// Hidden is inaccessible to restricted commands, except for what is Shown or granted by name.
	Hidden, Shown []string
	// Missing names layers to disable: "landlock", "seccomp", "mounts".
	Missing []string
	// Wrap is the path of bubblewrap, which restricts files if Landlock is missing; empty: nothing
	// does. Inner are the arguments with which this program calls [Inner].
	Wrap  string
	Inner []string
	// Temp is a folder of [MakeTemp], which the node locks; empty: the helper makes one.
	Temp string
}

// Spec is one command to start. Argv[0] and Dir are absolute paths; without Restrictions the command
// is not restricted.
type Spec struct {
	Restrictions *confine.Restrictions
	Argv         []string
	Dir          string
	Env          []string
	PTY          bool
	// Credential, without Restrictions, is the user as whom it runs; nil for the helper's own.
	Credential *syscall.Credential
}

// Reports receive what happens to a command, each once and in this order, even when the helper is
// lost. They must not block.
type Reports struct {
	// Exited gets the programs that the command was not allowed to start.
	Exited func(status syscall.WaitStatus, refused []string, err error)
	// Finished gets the number of processes, without the command's own, that were ended by signals.
	Finished func(killed int)
}

// Helper is the node's end of the connection to a helper process. It is safe for use by several
// goroutines.
type Helper struct {
	wire        *wire
	cmd         *exec.Cmd
	launchLimit time.Duration
	reaped      chan struct{} // closed when the process has been reaped and the last answer was delivered

	mu    sync.Mutex
	last  uint64
	calls map[uint64]*call
	lost  bool
}

type call struct {
	reports Reports
	first   chan answer // started or refused
	pid     int         // 0 until started
	tag     uint64      // of its processes
	ended   bool
}

// Start starts a helper: cmd is a program that calls Serve. With a name space of users of its own,
// a helper without privileges can restrict what is mounted where; its commands then see the files of
// other users as those of nobody.
func Start(cmd *exec.Cmd, set Settings, userSpace bool) (*Helper, error) {
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
	// The helper has its own session: Ctrl-C at the node's terminal must not end the process that
	// ends the commands.
	cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{theirs}, &syscall.SysProcAttr{Setsid: true}
	if userSpace {
		own := func(id int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
		}
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = own(os.Geteuid()), own(os.Getegid())
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	if err := cmd.Start(); err != nil {
		w.conn.Close()
		return nil, err
	}
	h := &Helper{wire: w, cmd: cmd, launchLimit: launchLimit, reaped: make(chan struct{}), calls: map[uint64]*call{}}
	ready := make(chan error, 1)
	crash.Go(func() { h.read(ready) })
	if w.send(set) != nil {
		w.conn.Close() // the reader reports the reason
	}
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case err = <-ready:
	case <-timer.C:
		err = errors.New("it does not respond")
	}
	if err != nil {
		cmd.Process.Kill()
		w.conn.Close()
		<-h.reaped
		return nil, err
	}
	return h, nil
}

// read delivers the helper's answers until the helper has ended.
func (h *Helper) read(ready chan<- error) {
	defer close(h.reaped)
	var word string
	err := h.wire.receive(&word)
	if err == nil && word != hello {
		err = errors.New("an unexpected program responded")
	}
	ready <- err
	for err == nil {
		var a answer
		if err = h.wire.receive(&a); err == nil {
			h.handle(a)
		}
	}
	h.mu.Lock()
	h.lost = true
	calls := h.calls
	h.calls = nil
	h.mu.Unlock()
	h.wire.conn.Close()
	h.cmd.Wait()
	for _, c := range calls {
		if c.pid == 0 {
			c.first <- answer{Kind: refused, Err: ErrLost.Error()}
			continue
		}
		unix.Kill(-c.pid, unix.SIGKILL)
		killTagged(c.tag)
		if !c.ended {
			c.reports.Exited(0, nil, ErrLost)
		}
		c.reports.Finished(0)
	}
}

func (h *Helper) handle(a answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[a.ID]
	if c == nil {
		return
	}
	switch a.Kind {
	case started:
		c.pid, c.tag = a.PID, a.Tag
		c.first <- a
	case refused:
		delete(h.calls, a.ID)
		c.first <- a
	case exited:
		c.ended = true
		c.reports.Exited(a.Status, a.Refused, nil)
	case done:
		delete(h.calls, a.ID)
		c.reports.Finished(a.Signalled)
	}
}

// Command is a started command.
type Command struct {
	helper *Helper
	id     uint64
	tag    uint64
	// PID is the command's own process.
	PID int
}

// Terminate sends SIGTERM to all processes of the command. It does not wait.
func (c Command) Terminate() { c.helper.wire.send(request{ID: c.id}) }

// Kill sends SIGKILL to all processes of the command until none is left. It does not wait.
func (c Command) Kill() { c.helper.wire.send(request{ID: c.id, Kill: true}) }

// Processes lists the running processes of the command. The helper itself has the tag of the last
// one.
func (c Command) Processes() []int { return taggedWith(tree(c.helper.cmd.Process.Pid)[1:], c.tag) }

// Launch starts a command with open files for its descriptors 0 to 3, which the caller owns. A nil
// file is the null device, or for descriptor 3 nothing.
// r may be called before Launch returns, and is not called after an error. A helper that does not
// respond within a minute is killed.
func (h *Helper) Launch(o Spec, files [4]*os.File, r Reports) (Command, error) {
	wired := wireRequest{Spec: o}
	var passed []*os.File
	for i, f := range files {
		if f != nil {
			wired.Files[i] = true
			passed = append(passed, f)
		}
	}
	c := &call{reports: r, first: make(chan answer, 1)}
	h.mu.Lock()
	if h.lost {
		h.mu.Unlock()
		return Command{}, ErrLost
	}
	h.last++
	id := h.last
	h.calls[id] = c
	h.mu.Unlock()
	var isLate atomic.Bool // set before the helper is killed, which is an answer, too
	abandoned := make(chan struct{})
	timer := crash.AfterFunc(h.launchLimit, func() {
		isLate.Store(true)
		h.abandon()
		close(abandoned)
	})
	defer timer.Stop()
	if err := h.wire.send(request{ID: id, Start: &wired}, passed...); err != nil {
		h.wire.conn.Close() // half a request may have been sent
	}
	var a answer
	select {
	case a = <-c.first:
	case <-abandoned:
		return Command{}, errStuck
	}
	switch {
	case a.Kind == started:
		return Command{helper: h, id: id, tag: a.Tag, PID: a.PID}, nil
	case isLate.Load():
		return Command{}, errStuck
	case a.Errno != 0:
		return Command{}, &os.PathError{Op: a.Err, Path: o.Argv[0], Err: a.Errno}
	default:
		return Command{}, errors.New(a.Err)
	}
}

// abandon kills a helper that does not respond, with all processes of its commands. One that waits in
// the kernel may remain, and its process is not waited for.
func (h *Helper) abandon() {
	all := tree(h.cmd.Process.Pid)[1:]
	h.Kill()
	h.wire.conn.Close() // ends a write to it, too
	signalAll(all, unix.SIGKILL)
}

// IsLost reports whether the helper has ended.
func (h *Helper) IsLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// Kill ends the helper, which may be stuck, and makes every call fail. The node ends the commands.
func (h *Helper) Kill() { h.cmd.Process.Kill() }

// Close lets the helper end its commands and itself, and waits at most a second. The helper is not
// killed then, because it could not end the remaining processes.
func (h *Helper) Close() {
	h.wire.conn.CloseWrite()
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	select {
	case <-h.reaped:
	case <-timer.C:
	}
}
