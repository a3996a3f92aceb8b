package supervisor

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
	"fairlead/node/sandbox/confine"
)

type server struct {
	wire     *wire
	confiner *confiner
	null     *os.File // the null device, for missing files of a command
	sessions map[uint64]*session
	byPID    map[int]*session // by the command's process number, until it is reaped
	// tag is the latest one; see processes_linux.go.
	tag uint64
	// isEnding says that the node has ended.
	isEnding bool
}

type session struct {
	id            uint64
	pid           int
	tag           uint64
	exited        bool      // the command itself is reaped
	isTerminating bool      // the processes got SIGTERM
	isKilling     bool      // they get SIGKILL until none is left
	due           time.Time // when the processes that outlive the command get the next signal
	// signalled are the processes that were running when they were signalled, without the command's
	// own.
	signalled map[int]bool
	guard     *execGuard  // of the programs that it may not start; may be nil
	own       confine.Own // what its processes have for themselves
}

func (v *server) handle(r incoming) {
	if r.Start != nil {
		err := r.err
		if err == nil {
			err = v.start(r.ID, r.Start, r.files)
		}
		for _, f := range r.files {
			f.Close()
		}
		if err != nil {
			a := answer{ID: r.ID, Kind: refused, Err: err.Error()}
			if se, ok := errors.AsType[*os.SyscallError](err); ok {
				a.Err = se.Syscall
				a.Errno, _ = errors.AsType[syscall.Errno](err)
			}
			v.wire.send(a)
		}
		return
	}
	if s := v.sessions[r.ID]; s != nil {
		if r.Kill {
			v.kill(s)
			return
		}
		v.terminate(s)
	}
}

func count(files [4]bool) (n int) {
	for _, f := range files {
		if f {
			n++
		}
	}
	return n
}

func (v *server) start(id uint64, o *wireRequest, files []*os.File) error {
	var passed []*os.File
	var fds []uintptr
	for i, has := range o.Files {
		f := v.null
		switch {
		case has:
			f, files = files[0], files[1:]
		case i == 3:
			continue
		}
		passed, fds = append(passed, f), append(fds, f.Fd())
	}
	env, bonds, err := v.confiner.prepare(o, int(fds[0]))
	if err != nil {
		return err
	}
	s := &session{id: id, tag: v.nextTag(), signalled: map[int]bool{}}
	attr := &syscall.ProcAttr{Dir: o.Dir, Env: env, Files: fds, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: o.PTY, Credential: o.Credential}}
	if bonds != nil && bonds.wrap != nil {
		s.pid, err = v.startWrapped(o, attr, passed, bonds)
	} else {
		s.pid, s.guard, err = v.launch(o.Argv, attr, bonds)
	}
	if bonds != nil {
		s.own = bonds.own
	}
	if err != nil {
		s.own.Close()
		return err
	}
	v.sessions[id], v.byPID[s.pid] = s, s
	return v.wire.send(answer{ID: id, Kind: started, PID: s.pid, Tag: s.tag})
}

// launch starts a command, from a restricted thread if there are restrictions.
func (v *server) launch(argv []string, attr *syscall.ProcAttr, b *restrictions) (pid int, guard *execGuard, err error) {
	if b == nil {
		pid, err = fork(argv, attr)
		return pid, nil, err
	}
	defer limitForks()()
	done := make(chan struct{})
	crash.Go(func() {
		defer close(done)
		defer crash.Recover(&err, "start of a command")
		// The goroutine never unlocks its thread, so the thread ends with it and never runs
		// anything else.
		runtime.LockOSThread()
		if b.view != nil {
			err = b.enterView()
		}
		if err == nil {
			err = confine.Thread(b.rules)
		}
		if err == nil && b.files != nil {
			err = b.files.Bind()
		}
		switch {
		case err != nil:
		case len(b.programs) > 0:
			pid, guard, err = forkWatched(b.programs, argv, attr)
		default:
			pid, err = fork(argv, attr)
		}
	})
	<-done
	return pid, guard, err
}

func fork(argv []string, attr *syscall.ProcAttr) (int, error) {
	pid, err := syscall.ForkExec(argv[0], argv, attr)
	if err != nil {
		return 0, os.NewSyscallError("start", err)
	}
	return pid, nil
}

// reap records every process that has ended. It reports whether none is left.
func (v *server) reap() (none bool) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return true
		case pid == 0:
			return false
		}
		s := v.byPID[pid]
		if s == nil {
			continue // an orphan of a command
		}
		delete(v.byPID, pid)
		s.exited = true
		v.wire.send(answer{ID: s.id, Kind: exited, Status: ws, Refused: s.guard.names()})
		if s.isTerminating {
			s.due = time.Now().Add(Grace)
		} else {
			s.due = time.Now().Add(SettleTime)
		}
	}
}

// advance finishes the sessions without processes and signals the processes that outlive their
// command. It returns the time after which it must be called again even if no process ends; 0 is
// never.
func (v *server) advance(none bool) (next time.Duration) {
	active := v.isEnding
	for _, s := range v.sessions {
		if s.exited && none {
			v.finish(s)
			continue
		}
		active = active || s.exited || s.isKilling
	}
	if none || !active {
		return 0
	}
	left := map[*session]bool{}
	for _, pid := range children(os.Getpid()) {
		s, known := v.sessionOf(pid)
		if !known { // it has lowered its own tag
			signalAll(tree(pid), unix.SIGKILL)
		}
		left[s] = true
	}
	next = stuckPause
	for _, s := range v.sessions {
		if s.exited && !left[s] {
			v.finish(s)
			continue
		}
		if pause := v.sendDueSignal(s); pause > 0 {
			next = min(next, pause)
		}
	}
	return next
}

const (
	// sweepPause is the interval at which processes that are being ended are checked, unless one of
	// them ends before.
	sweepPause = 10 * time.Millisecond
	// stuckAfter is how long SIGKILL may take. Processes that survive it longer belong to another
	// user, or wait in the kernel; they are checked every stuckPause.
	stuckAfter, stuckPause = 5 * time.Second, time.Second
)

// sendDueSignal sends the processes of a session the signal that is due. It returns the time after
// which to call it again; 0 is never.
func (v *server) sendDueSignal(s *session) time.Duration {
	late := time.Since(s.due)
	switch {
	case s.isKilling:
		v.signal(s, unix.SIGKILL)
	case !s.exited:
		return 0
	case late < 0:
	case s.isTerminating:
		v.kill(s)
	default:
		v.terminate(s)
	}
	if s.isKilling && late > stuckAfter {
		return stuckPause
	}
	return sweepPause
}

func (v *server) sessionOf(pid int) (s *session, known bool) {
	if s := v.byPID[pid]; s != nil {
		return s, true
	}
	b, err := tagOf(pid)
	if err != nil {
		return nil, false
	}
	for _, s := range v.sessions {
		if s.tag == b {
			return s, true
		}
	}
	return nil, false
}

func (v *server) finish(s *session) {
	delete(v.sessions, s.id)
	s.own.Close()
	v.wire.send(answer{ID: s.id, Kind: done, Signalled: len(s.signalled)})
}

func (v *server) terminate(s *session) {
	s.isTerminating, s.due = true, time.Now().Add(Grace)
	v.signal(s, unix.SIGTERM)
}

// kill sends SIGKILL to all processes of a session, now and until none is left.
func (v *server) kill(s *session) {
	s.isKilling, s.due = true, time.Now()
	v.signal(s, unix.SIGKILL)
}

func (v *server) signal(s *session, sig syscall.Signal) {
	var roots []int
	for _, pid := range children(os.Getpid()) {
		if o, _ := v.sessionOf(pid); o == s {
			roots = append(roots, pid)
		}
	}
	all := tree(roots...)
	for _, pid := range all {
		if pid != s.pid && ProcessStat(pid) != nil && unix.Kill(pid, 0) == nil {
			s.signalled[pid] = true
		}
	}
	if sig == unix.SIGKILL && !s.exited {
		// Signal the group at once, so that processes that keep forking in it cannot escape.
		unix.Kill(-s.pid, sig)
	}
	signalAll(all, sig)
}
