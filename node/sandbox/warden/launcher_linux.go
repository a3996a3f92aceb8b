package warden

import (
	"os"
	"runtime"
	"syscall"

	"fairlead/node/sandbox/confine"
)

// launcher is a thread that is bound already but for the files, and starts one command. It is made ahead, as that takes a tenth of a millisecond.
type launcher struct {
	rules confine.Rules
	work  chan launch
}

type launch struct {
	argv   []string
	attr   *syscall.ProcAttr
	files  *confine.Ruleset
	result chan<- launched
}

type launched struct {
	pid int
	err error
}

// newLauncher starts a thread, which ends with its one command or when work is closed.
func newLauncher(r confine.Rules) *launcher {
	l := &launcher{rules: r, work: make(chan launch)}
	go func() {
		// The goroutine never unlocks its thread, which therefore ends with it and never runs anything else.
		runtime.LockOSThread()
		err := confine.Thread(r)
		w, ok := <-l.work
		if !ok {
			return
		}
		if err == nil && w.files != nil {
			err = w.files.Bind()
		}
		var pid int
		if err == nil {
			pid, err = fork(w.argv, w.attr)
		}
		w.result <- launched{pid, err}
	}()
	return l
}

// launch starts a command, from a bound thread when there are bonds. Without, any thread will do.
func (v *warden) launch(argv []string, attr *syscall.ProcAttr, b *bonds) (int, error) {
	if b == nil {
		return fork(argv, attr)
	}
	l := v.spare
	if l != nil && l.rules != b.rules {
		close(l.work)
		l = nil
	}
	if l == nil {
		l = newLauncher(b.rules)
	}
	undo := limitForks()
	result := make(chan launched)
	l.work <- launch{argv, attr, b.files, result}
	r := <-result
	undo()
	v.spare = newLauncher(b.rules)
	return r.pid, r.err
}

func fork(argv []string, attr *syscall.ProcAttr) (int, error) {
	pid, err := syscall.ForkExec(argv[0], argv, attr)
	if err != nil {
		return 0, os.NewSyscallError("start", err)
	}
	return pid, nil
}
