package warden

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// warden keeps the sessions of a helper.
type warden struct {
	wire     *wire
	confiner *confiner
	forks    *forks
	null     *os.File // the null device, for what a command is not given
	sessions map[uint64]*session
	byPID    map[int]*session // by the command's process, while it is not reaped
	// badge is the last one given; see kin_linux.go.
	badge uint64
	spare *launcher
	// ending says that the node is gone.
	ending bool
}

// session is one command with all that came from it.
type session struct {
	id        uint64
	pid       int
	badge     uint64
	supervise bool
	exited    bool // the command itself is reaped
	killing   bool
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
			s.killing = true
			v.sweep(s)
			return
		}
		v.terminate(s)
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
	s := &session{id: id, supervise: o.Supervise, badge: v.nextBadge()}
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
	err = v.wire.send(answer{ID: id, Kind: started, PID: s.pid})
	v.prepareNext(bonds)
	return err
}

// reap takes note of every process that has ended. It reports whether there is none left.
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
			continue // somebody's orphan
		}
		delete(v.byPID, pid)
		s.exited = true
		v.wire.send(answer{ID: s.id, Kind: exited, Status: ws})
		if !s.supervise {
			s.killing = true
		}
	}
}

// maxLeft is how many processes without a parent a command that has ended may leave running. Servers, builders' daemons and terminals are a few, with
// their own children; what is more is a fork bomb, which nobody could end any more once its command is over.
const maxLeft = 256

// settle ends the sessions of which nothing is left and goes on killing those that are to be killed. It reports whether to look again soon even if
// nothing happens.
func (v *warden) settle(none bool) (again bool) {
	waiting := v.ending
	for _, s := range v.sessions {
		if s.exited && none {
			v.finish(s)
			continue
		}
		waiting = waiting || s.exited || s.killing
		again = again || s.killing
	}
	if none || !waiting {
		return false
	}
	alive := map[*session]int{}
	for _, pid := range children(os.Getpid()) {
		s, known := v.owner(pid)
		switch {
		case !known:
			killTree(pid) // it has thrown its badge away
		case s.killing:
			killTree(pid)
		}
		alive[s]++
	}
	for _, s := range v.sessions {
		switch {
		case s.exited && alive[s] == 0:
			v.finish(s)
		case s.exited && !s.killing && alive[s] > maxLeft:
			s.killing, again = true, true
		}
	}
	return again
}

// owner is the session that a child of ours belongs to.
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
	v.wire.send(answer{ID: s.id, Kind: done})
}

// sweep kills what belongs to s. The group goes first and at once, so that what forks in it cannot run away.
func (v *warden) sweep(s *session) {
	if !s.exited {
		unix.Kill(-s.pid, unix.SIGKILL)
	}
	for _, pid := range children(os.Getpid()) {
		if o, _ := v.owner(pid); o == s {
			killTree(pid)
		}
	}
}

func (v *warden) terminate(s *session) {
	for _, pid := range children(os.Getpid()) {
		if o, _ := v.owner(pid); o == s {
			signalTree(pid, unix.SIGTERM)
		}
	}
}

func (v *warden) terminateAll() {
	for _, pid := range children(os.Getpid()) {
		signalTree(pid, unix.SIGTERM)
	}
}
