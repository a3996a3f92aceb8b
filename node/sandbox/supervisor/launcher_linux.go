package supervisor

import (
	"os"
	"runtime"
	"syscall"

	"fairlead/node/sandbox/confine"
)

// launcher is a thread that is already restricted and starts one command. It is prepared in
// advance, because that takes some tenths of a millisecond.
type launcher struct {
	restrictions restrictions
	work         chan launch
}

type launch struct {
	argv   []string
	attr   *syscall.ProcAttr
	result chan<- launched
}

type launched struct {
	pid int
	err error
}

// newLauncher starts a thread, which ends with its one command or when work is closed.
func newLauncher(b restrictions) *launcher {
	l := &launcher{restrictions: b, work: make(chan launch)}
	go func() {
		// The goroutine never unlocks its thread, so the thread ends with it and never runs
		// anything else.
		runtime.LockOSThread()
		err := confine.Thread(b.rules)
		if err == nil && b.files != nil {
			err = b.files.Bind()
		}
		w, ok := <-l.work
		if !ok {
			return
		}
		var pid int
		if err == nil {
			pid, err = fork(w.argv, w.attr)
		}
		w.result <- launched{pid, err}
	}()
	return l
}

// launch starts a command, from a restricted thread if there are restrictions, otherwise from any
// thread.
func (v *server) launch(argv []string, attr *syscall.ProcAttr, b *restrictions) (int, error) {
	if b == nil {
		return fork(argv, attr)
	}
	l := v.spare
	v.spare = nil
	if l != nil && (l.restrictions.rules != b.rules || l.restrictions.files != b.files) {
		close(l.work)
		l = nil
	}
	if l == nil {
		l = newLauncher(*b)
	}
	undo := v.forks.limit()
	result := make(chan launched)
	l.work <- launch{argv, attr, result}
	r := <-result
	undo()
	return r.pid, r.err
}

// prepareNext makes a launcher for a further command with the same restrictions, once the previous
// one runs.
func (v *server) prepareNext(b *restrictions) {
	if b != nil && b.wrap == nil && v.spare == nil {
		v.spare = newLauncher(*b)
	}
}

func fork(argv []string, attr *syscall.ProcAttr) (int, error) {
	pid, err := syscall.ForkExec(argv[0], argv, attr)
	if err != nil {
		return 0, os.NewSyscallError("start", err)
	}
	return pid, nil
}
