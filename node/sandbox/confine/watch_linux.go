package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// execs are the numbers of execve and execveat.
var execs = map[string][2]uint32{"amd64": {59, 322}, "arm64": {221, 281}}

// Exec is an attempt of a watched process to become another program. It waits until [Watch.Answer].
type Exec struct {
	// Thread is the thread that made the call; until the answer, its memory can be read.
	Thread int
	// Path and Argv are addresses in its memory. Dir is the descriptor of the folder of a relative
	// path, or of the program itself if Flags has AT_EMPTY_PATH.
	Path, Argv uintptr
	Dir, Flags int

	id uint64
}

// Watch stops every process started from a thread before it becomes another program, until it is
// answered. The caller closes it.
type Watch struct{ *os.File }

// waitKillable is SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (Linux 5.19): a signal does not interrupt a
// call that has been received.
const waitKillable = 1 << 5

// WatchExecs permanently makes the calling thread, and all that is started from it, ask before an
// exec. The conditions of [Thread] apply, which must be called before. Needs Linux 5.5. A signal whose
// handler does not restart calls makes the exec fail with EINTR until it is received, before 5.19
// until it is answered.
func WatchExecs() (Watch, error) {
	numbers, ok := execs[runtime.GOARCH]
	if !ok {
		return Watch{}, errors.New("programs cannot be watched on " + runtime.GOARCH)
	}
	prog := []unix.SockFilter{{Code: load, K: atNumber}}
	for _, nr := range numbers {
		prog = append(prog, refuse(nr, unix.SECCOMP_RET_USER_NOTIF)...)
	}
	prog = append(prog, unix.SockFilter{Code: ret, K: allow})
	f := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	fd, errno := listen(&f)
	runtime.KeepAlive(prog)
	if errno != 0 {
		return Watch{}, fmt.Errorf("watching which programs start: %w", errno)
	}
	unix.CloseOnExec(int(fd))
	return Watch{os.NewFile(fd, "execs")}, nil
}

// listen applies a filter and returns the descriptor of its notifications.
func listen(f *unix.SockFprog) (fd uintptr, errno unix.Errno) {
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | waitKillable, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER} {
		fd, _, errno = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(f)))
		if errno != unix.EINVAL {
			break
		}
	}
	return fd, errno
}

// notification is struct seccomp_notif, response is struct seccomp_notif_resp (seccomp(2)).
type notification struct {
	id         uint64
	pid, flags uint32
	nr, arch   uint32
	address    uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// Next waits for the next exec. ok is false when no watched process is left.
func (w Watch) Next() (e Exec, ok bool) {
	for {
		poll := []unix.PollFd{{Fd: int32(w.Fd()), Events: unix.POLLIN}}
		switch _, err := unix.Poll(poll, -1); {
		case err == unix.EINTR:
			continue
		case err != nil || poll[0].Revents&(unix.POLLHUP|unix.POLLNVAL) != 0 && poll[0].Revents&unix.POLLIN == 0:
			return e, false
		case poll[0].Revents&unix.POLLIN == 0: // a signal interrupted the kernel while it looked
			continue
		}
		var n notification
		switch errno := w.control(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); errno {
		case unix.ENOENT: // the process was killed meanwhile
			continue
		case 0:
		default:
			return e, false
		}
		e = Exec{id: n.id, Thread: int(n.pid), Dir: unix.AT_FDCWD, Path: uintptr(n.args[0]), Argv: uintptr(n.args[1])}
		if n.nr == execs[runtime.GOARCH][1] {
			e.Dir, e.Path, e.Argv, e.Flags = int(int32(n.args[0])), uintptr(n.args[1]), uintptr(n.args[2]), int(n.args[4])
		}
		return e, true
	}
}

// IsWaiting reports whether the process of an exec still waits for its answer. If not, its number
// may belong to another process, and nothing that was read of it counts.
func (w Watch) IsWaiting(e Exec) bool {
	return w.control(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&e.id)) == 0
}

// Answer lets the exec continue, or makes it fail with EACCES.
func (w Watch) Answer(e Exec, allow bool) {
	r := response{id: e.id, errno: -int32(unix.EACCES)}
	if allow {
		r.errno, r.flags = 0, unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	w.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)) // fails if the process was killed
}

func (w Watch) control(request uintptr, argument unsafe.Pointer) unix.Errno {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, w.Fd(), request, uintptr(argument))
		// A signal of the runtime interrupts the wait for another thread. A lost answer would leave the
		// process, and whoever waits for its start, waiting for ever.
		if errno != unix.EINTR {
			return errno
		}
	}
}
