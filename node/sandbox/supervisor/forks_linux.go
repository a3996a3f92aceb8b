package supervisor

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// spareForks is how many processes and threads a restricted command may add to the user's present
// ones.
const spareForks = 2048

// forkLimit limits the number of processes that commands can start.
type forkLimit struct {
	have unix.Rlimit // the helper's own limit
	// load is the descriptor of /proc/loadavg, which has the number of processes and threads. It
	// stays open, because every command reads it.
	load int
}

func newForks() *forkLimit {
	f := &forkLimit{load: -1}
	if unix.Getrlimit(unix.RLIMIT_NPROC, &f.have) != nil {
		return f
	}
	if fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		f.load = fd
	}
	return f
}

// limit limits the forks of the next process to start, until undo. In between, the limit also
// applies to the helper itself: setting it on a running command would miss the processes that it
// has already started. It has no effect on root, whom the kernel does not limit. It stops accidents
// only, because a command may raise it.
func (f *forkLimit) limit() (undo func()) {
	now, ok := f.count()
	if !ok || unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: min(f.have.Max, now+spareForks), Max: f.have.Max}) != nil {
		return func() {}
	}
	return func() { unix.Setrlimit(unix.RLIMIT_NPROC, &f.have) }
}

// count returns the number of processes and threads of the system.
func (f *forkLimit) count() (n uint64, ok bool) {
	if f.load < 0 {
		return 0, false
	}
	var text [128]byte
	size, err := unix.Pread(f.load, text[:], 0)
	if err != nil {
		return 0, false
	}
	_, rest, _ := bytes.Cut(text[:size], []byte("/"))
	total, _, _ := bytes.Cut(rest, []byte(" "))
	n, err = strconv.ParseUint(string(total), 10, 32)
	return n, err == nil
}
