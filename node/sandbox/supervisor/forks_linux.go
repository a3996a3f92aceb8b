package supervisor

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// spareForks is how many processes and threads more than there are now a bound command may bring the user to.
const spareForks = 2048

// forks bounds how often commands can fork.
type forks struct {
	have unix.Rlimit // the helper's own limit
	load int         // descriptor of /proc/loadavg, which says how many processes and threads there are; kept open, as every command asks
}

func newForks() *forks {
	f := &forks{load: -1}
	if unix.Getrlimit(unix.RLIMIT_NPROC, &f.have) != nil {
		return f
	}
	if fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		f.load = fd
	}
	return f
}

// limit bounds how often what is started next can fork, until undo. The limit is the helper's own meanwhile, as one that is set on a command that
// runs already misses what it has started by then. It has no effect on root, whom the kernel does not bound, and it stops accidents: a command may
// raise it.
func (f *forks) limit() (undo func()) {
	now, ok := f.count()
	if !ok || unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: min(f.have.Max, now+spareForks), Max: f.have.Max}) != nil {
		return func() {}
	}
	return func() { unix.Setrlimit(unix.RLIMIT_NPROC, &f.have) }
}

// count is how many processes and threads there are.
func (f *forks) count() (n uint64, ok bool) {
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
