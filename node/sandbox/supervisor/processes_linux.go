package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
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
	// room for all process numbers below firstTag.
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

func scanChildren(parent int) (pids []int) {
	for _, pid := range Processes() {
		if stat := ProcessStat(pid); len(stat) > 1 && stat[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ProcessStat returns the fields of /proc/PID/stat from the state on (proc_pid_stat(5)); nil for a
// process that has ended, even if it has not been reaped yet.
func ProcessStat(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// The name in parentheses can contain any character.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) == 0 || fields[0] == "Z" || fields[0] == "X" {
		return nil
	}
	return fields
}

// Processes lists all processes that this process can see.
func Processes() (pids []int) {
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
		left := taggedWith(Processes(), tag)
		if len(left) == 0 {
			return
		}
		signalAll(left, unix.SIGKILL)
	}
}

func taggedWith(pids []int, tag uint64) (found []int) {
	for _, pid := range pids {
		if b, err := tagOf(pid); err == nil && b == tag && ProcessStat(pid) != nil {
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

// spareForks is how many processes a restricted command may add to the present ones.
const spareForks = 2048

// limitForks limits the forks of the next process to start, until undo. In between, the limit also
// applies to the helper itself: setting it on a running command would miss the processes that it
// has already started. It has no effect on root, whom the kernel does not limit. It stops accidents
// only, because a command may raise it.
func limitForks() (undo func()) {
	var have unix.Rlimit
	count, err := processCount()
	if err != nil || unix.Getrlimit(unix.RLIMIT_NPROC, &have) != nil ||
		unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: min(have.Max, count+spareForks), Max: have.Max}) != nil {
		return func() {}
	}
	return func() { unix.Setrlimit(unix.RLIMIT_NPROC, &have) }
}

func processCount() (uint64, error) {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(load), "/")
	total, _, _ := strings.Cut(rest, " ")
	return strconv.ParseUint(total, 10, 32)
}
