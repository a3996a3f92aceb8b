package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A session's processes are found, wherever they went, by two properties that no process can
// remove: its parent, because the helper becomes the parent of every orphan below it, and a tag
// that children inherit. The tag is the hard limit of file locks, which kernels have ignored
// since 2.4. It decreases by one with every session, so that without privileges no process can take
// the tag of an older session; a process that lowers its own limit to a tag of no session is
// killed. Each helper has its own range of tags, so that the node finds the processes of a killed
// helper.

const (
	// firstTag is more locks than anyone needs and less than unlimited.
	firstTag = 1 << 60
	// tagBits is the size of a helper's range in bits: more sessions than it ever starts, with
	// room for all process numbers below firstBadge.
	tagBits = 32
)

// nextTag gives the helper a new tag, which the next command inherits.
func (v *server) nextTag() uint64 {
	if v.tag == 0 {
		v.tag = firstTag - uint64(os.Getpid())<<tagBits
		var have unix.Rlimit
		if unix.Getrlimit(unix.RLIMIT_LOCKS, &have) == nil {
			v.tag = min(v.tag, have.Max)
		}
	}
	v.tag--
	unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: v.tag, Max: v.tag})
	return v.tag
}

func tagOf(pid int) (uint64, error) {
	var lim unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &lim)
	if err == nil {
		return lim.Max, nil
	}
	// The limits of another user's process, such as one started by sudo, are readable by everyone.
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := bytes.Cut(data, []byte("Max file locks"))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 2 {
		return 0, errors.New("no limit of file locks")
	}
	return strconv.ParseUint(string(fields[1]), 10, 64)
}

// children returns the processes whose parent is pid.
func children(pid int) []int {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var pids []int
	for _, t := range tasks {
		data, err := os.ReadFile(dir + "/" + t.Name() + "/children")
		if errors.Is(err, os.ErrNotExist) {
			if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
				return scanChildren(pid) // a kernel without CONFIG_PROC_CHILDREN
			}
		}
		for _, f := range bytes.Fields(data) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// scanChildren finds the children of parent by checking every process.
func scanChildren(parent int) (pids []int) {
	for _, pid := range allProcesses() {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue
		}
		// The name in parentheses can contain any character.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 1 && string(fields[1]) == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// allProcesses lists all processes that this process can see.
func allProcesses() (pids []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killTagged kills the processes with a tag until none is left, or at most for closeLimit.
func killTagged(tag uint64) {
	for end := time.Now().Add(closeLimit); time.Now().Before(end); time.Sleep(sweepPause) {
		left := taggedWith(allProcesses(), tag)
		if len(left) == 0 {
			return
		}
		signalAll(left, unix.SIGKILL)
	}
}

// taggedWith returns the running processes among pids that have a tag.
func taggedWith(pids []int, tag uint64) (found []int) {
	for _, pid := range pids {
		if b, err := tagOf(pid); err == nil && b == tag && isRunning(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// maxTree is the maximum number of processes that are listed before they are signalled. The next
// round finds the others: processes that fork faster than they can be listed must not delay the
// signal.
const maxTree = 4096

// tree lists processes and all their descendants, at most maxTree.
func tree(roots ...int) []int {
	for i := 0; i < len(roots) && len(roots) < maxTree; i++ {
		roots = append(roots, children(roots[i])...)
	}
	return roots
}

func signalAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		unix.Kill(pid, sig)
	}
}

// isRunning reports whether a process exists and has not ended yet.
func isRunning(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	// The name in parentheses can contain any character.
	_, state, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return err == nil && ok && !bytes.HasPrefix(state, []byte("Z")) && !bytes.HasPrefix(state, []byte("X"))
}

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
