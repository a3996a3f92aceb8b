package supervisor

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// warden manages the sessions of a helper.
type warden struct {
	wire     *wire
	confiner *confiner
	forks    *forks
	null     *os.File // the null device, for missing files of a command
	sessions map[uint64]*session
	byPID    map[int]*session // by the command's process number, until it is reaped
	// badge is the latest one; see kin_linux.go.
	badge uint64
	spare *launcher
	// ending says that the node has ended.
	ending bool
}

// session is one command with all its processes.
type session struct {
	id      uint64
	pid     int
	badge   uint64
	exited  bool      // the command itself is reaped
	asked   bool      // the processes got SIGTERM
	killing bool      // they get SIGKILL until none is left
	due     time.Time // when the processes that outlive the command get the next signal
	// ended are the processes that were running when they were signalled, without the command's
	// own.
	ended map[int]bool
}

func (v *warden) handle(r arrived) {
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
			var se *os.SyscallError
			if errors.As(err, &se) {
				a.Err = se.Syscall
				errors.As(err, &a.Errno)
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
		v.ask(s)
	}
}

func count(files [3]bool) (n int) {
	for _, f := range files {
		if f {
			n++
		}
	}
	return n
}

func (v *warden) start(id uint64, o *order, files []*os.File) error {
	fds := make([]uintptr, 3)
	for i := range fds {
		fds[i] = v.null.Fd()
		if o.Files[i] {
			fds[i] = files[0].Fd()
			files = files[1:]
		}
	}
	env, bonds, err := v.confiner.prepare(o, int(fds[0]))
	if err != nil {
		return err
	}
	s := &session{id: id, badge: v.nextBadge(), ended: map[int]bool{}}
	attr := &syscall.ProcAttr{Dir: o.Dir, Env: env, Files: fds, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: o.PTY}}
	if bonds != nil && bonds.wrap != nil {
		s.pid, err = v.wrapped(o, attr, bonds)
	} else {
		s.pid, err = v.launch(o.Argv, attr, bonds)
	}
	if err != nil {
		return err
	}
	v.sessions[id], v.byPID[s.pid] = s, s
	err = v.wire.send(answer{ID: id, Kind: started, PID: s.pid, Badge: s.badge})
	v.prepareNext(bonds)
	return err
}

// reap records every process that has ended. It reports whether none is left.
func (v *warden) reap() (none bool) {
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
		v.wire.send(answer{ID: s.id, Kind: exited, Status: ws})
		if s.asked {
			s.due = time.Now().Add(Grace)
		} else {
			s.due = time.Now().Add(SettleTime)
		}
	}
}

// settle finishes the sessions without processes and signals the processes that outlive their
// command. It returns the time after which it must be called again even if no process ends; 0 is
// never.
func (v *warden) settle(none bool) (next time.Duration) {
	active := v.ending
	for _, s := range v.sessions {
		if s.exited && none {
			v.finish(s)
			continue
		}
		active = active || s.exited || s.killing
	}
	if none || !active {
		return 0
	}
	left := map[*session]bool{}
	for _, pid := range children(os.Getpid()) {
		s, known := v.owner(pid)
		if !known { // it has lowered its own badge
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
		if pause := v.proceed(s); pause > 0 {
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

// proceed sends the processes of a session the signal that is due. It returns the time after which
// to call it again; 0 is never.
func (v *warden) proceed(s *session) time.Duration {
	late := time.Since(s.due)
	switch {
	case s.killing:
		v.signal(s, unix.SIGKILL)
	case !s.exited:
		return 0
	case late < 0:
	case s.asked:
		v.kill(s)
	default:
		v.ask(s)
	}
	if s.killing && late > stuckAfter {
		return stuckPause
	}
	return sweepPause
}

// owner returns the session of a child of the helper.
func (v *warden) owner(pid int) (s *session, known bool) {
	if s := v.byPID[pid]; s != nil {
		return s, true
	}
	b, err := badgeOf(pid)
	if err != nil {
		return nil, false
	}
	for _, s := range v.sessions {
		if s.badge == b {
			return s, true
		}
	}
	return nil, false
}

func (v *warden) finish(s *session) {
	delete(v.sessions, s.id)
	v.wire.send(answer{ID: s.id, Kind: done, Ended: len(s.ended)})
}

// ask sends SIGTERM to all processes of a session.
func (v *warden) ask(s *session) {
	s.asked, s.due = true, time.Now().Add(Grace)
	v.signal(s, unix.SIGTERM)
}

// kill sends SIGKILL to all processes of a session, now and until none is left.
func (v *warden) kill(s *session) {
	s.killing, s.due = true, time.Now()
	v.signal(s, unix.SIGKILL)
}

func (v *warden) signal(s *session, sig syscall.Signal) {
	var roots []int
	for _, pid := range children(os.Getpid()) {
		if o, _ := v.owner(pid); o == s {
			roots = append(roots, pid)
		}
	}
	all := tree(roots...)
	for _, pid := range all {
		if pid != s.pid && isRunning(pid) && unix.Kill(pid, 0) == nil {
			s.ended[pid] = true
		}
	}
	if sig == unix.SIGKILL && !s.exited {
		// Signal the group at once, so that processes that keep forking in it cannot escape.
		unix.Kill(-s.pid, sig)
	}
	signalAll(all, sig)
}
