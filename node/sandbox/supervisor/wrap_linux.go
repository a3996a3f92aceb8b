package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox/confine"
)

// wrapLimit is how long bubblewrap may take to prepare a command on a busy machine.
const wrapLimit = 20 * time.Second

// innerCommand is a command for [Inner] to become. Its files are sent beside it.
type innerCommand struct {
	Argv  []string
	Dir   string
	Env   []string
	PTY   bool
	Rules confine.Rules
	Files int // the number of its files, from descriptor 0
}

// innerState is a message of Inner: that it is ready, with its process number, or why the command
// could not be started.
type innerState struct {
	PID   int
	Errno syscall.Errno
	Err   string
}

// startWrapped starts a command in bubblewrap and returns the command's own process, a child of the
// helper and the leader of its session like any other.
//
// Bubblewrap starts this program, which waits until everything is set up. Then bubblewrap's own
// process is killed, which would only wait and turn signals into exit codes. The command's process
// becomes a child of the helper, because the helper is the parent of every orphan below it. Until
// then, nothing of the command has run.
func (v *server) startWrapped(o *wireRequest, attr *syscall.ProcAttr, passed []*os.File, b *restrictions) (pid int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "inner")
	defer theirs.Close()
	w, err := newWire(os.NewFile(uintptr(fds[0]), "inner"))
	if err != nil {
		return 0, err
	}
	defer w.conn.Close()
	w.conn.SetDeadline(time.Now().Add(wrapLimit))
	outer, output, err := v.startBubblewrap(theirs, b)
	if err != nil {
		return 0, err
	}
	defer output.Close()
	theirs.Close()
	err = w.send(innerCommand{Argv: o.Argv, Dir: attr.Dir, Env: attr.Env, PTY: o.PTY, Rules: b.rules, Files: len(passed)}, passed...)
	var ready innerState
	if err == nil {
		err = w.receive(&ready)
	}
	if err != nil || ready.Err != "" {
		signalAll(tree(outer), unix.SIGKILL)
	} else {
		unix.Kill(outer, unix.SIGKILL)
	}
	reapOne(outer)
	switch {
	case ready.Err != "":
		return 0, ready.failure()
	case err != nil:
		text, _ := io.ReadAll(io.LimitReader(output, 300))
		if len(text) > 0 {
			err = errors.New(strings.TrimSpace(string(text)))
		}
		return 0, fmt.Errorf("bubblewrap could not prepare the command: %w", err)
	}
	var failed innerState
	if err = w.send(innerState{}); err == nil {
		err = w.receive(&failed)
	}
	switch {
	case errors.Is(err, io.EOF): // it has become the command
		return ready.PID, nil
	case err != nil:
		signalAll(tree(ready.PID), unix.SIGKILL)
		return 0, fmt.Errorf("bubblewrap could not start the command: %w", err)
	}
	return 0, failed.failure()
}

// startBubblewrap starts bubblewrap, which starts [Inner] with the socket. The caller reads the
// output of bubblewrap and closes it.
func (v *server) startBubblewrap(socket *os.File, b *restrictions) (pid int, output *os.File, err error) {
	output, write, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer write.Close()
	// This works even if the program's folder is hidden, or its file was replaced.
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		output.Close()
		return 0, nil, err
	}
	defer exe.Close()
	null := v.null.Fd()
	argv := append(append([]string{v.confiner.settings.Wrap}, b.wrap...), "--", "/proc/self/fd/4")
	argv = append(argv, v.confiner.settings.Inner...)
	env := []string{"GOMAXPROCS=1", "GORACE=" + os.Getenv("GORACE")}
	undo := limitForks()
	pid, err = fork(argv, &syscall.ProcAttr{
		Dir: "/", Env: env, Sys: &syscall.SysProcAttr{Setsid: true}, Files: []uintptr{null, null, write.Fd(), socket.Fd(), exe.Fd()},
	})
	undo()
	if err != nil {
		output.Close()
		return 0, nil, fmt.Errorf("starting bubblewrap: %w", err)
	}
	return pid, output, nil
}

func (s innerState) failure() error {
	if s.Errno != 0 {
		return os.NewSyscallError(s.Err, s.Errno)
	}
	return errors.New(s.Err)
}

func reapOne(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// Inner runs this program inside bubblewrap: it becomes the command that it receives on descriptor
// 3.
func Inner() error {
	unix.CloseOnExec(4)
	w, err := newWire(os.NewFile(3, "helper"))
	if err != nil {
		return err
	}
	var o innerCommand
	if err := w.receive(&o); err != nil {
		return err
	}
	files, err := w.takeFiles(o.Files)
	if err != nil {
		return err
	}
	fail := func(op string, err error) error {
		errno, _ := errors.AsType[syscall.Errno](err)
		w.send(innerState{Err: op, Errno: errno})
		return err
	}
	if err := os.Chdir(o.Dir); err != nil {
		return fail("start", err)
	}
	if _, err := unix.Setsid(); err != nil {
		return fail("begin a session", err)
	}
	for i, f := range files {
		if err := duplicate(int(f.Fd()), i); err != nil {
			return fail("pass files", err)
		}
	}
	if o.PTY {
		if err := unix.IoctlSetInt(0, unix.TIOCSCTTY, 0); err != nil {
			return fail("take the terminal", err)
		}
	}
	if err := w.send(innerState{PID: os.Getpid()}); err != nil {
		return err
	}
	var begin innerState
	if err := w.receive(&begin); err != nil {
		return err // the helper has ended
	}
	if err := confine.Thread(o.Rules); err != nil {
		return fail(err.Error(), err)
	}
	return fail("start", syscall.Exec(o.Argv[0], o.Argv, o.Env))
}

// duplicate makes to a copy of a descriptor that the command inherits. They may be the same.
func duplicate(from, to int) error {
	if from != to {
		return unix.Dup3(from, to, 0)
	}
	_, err := unix.FcntlInt(uintptr(to), unix.F_SETFD, 0)
	return err
}
