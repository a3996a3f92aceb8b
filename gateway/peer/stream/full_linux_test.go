package stream

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"fairlead/gateway/protocol"

	"golang.org/x/sys/unix"
)

// refuseCalls returns a function that runs f on its own thread, on which the system answers the
// given calls with errno, like a disk that is full, over its quota or broken. Small writes succeed:
// the testing package writes its log on the thread of whoever opens a file.
func refuseCalls(t *testing.T, errno syscall.Errno, calls ...uint32) func(f func()) {
	load := unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS} // the number of the system call
	filter := []unix.SockFilter{load}
	for i, nr := range calls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jt: uint8(len(calls) - i)})
	}
	filter = append(
		filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_WRITE, Jf: 2},
		unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 32}, // the size of the write
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: 8 << 10, Jf: 1},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	)
	return func(f func()) {
		runtime.LockOSThread() // the thread ends with the goroutine
		prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
		}
		if err != nil {
			t.Errorf("the system's calls cannot be filtered: %v", err)
		}
		f()
	}
}

var (
	atSync   = []uint32{unix.SYS_FSYNC, unix.SYS_SYNCFS}
	atRename = []uint32{unix.SYS_LINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2}
)

func TestAFullDiskAtTheEndLeavesNoWrongFile(t *testing.T) {
	sizes := map[string]int64{"small": 3 << 10, "middle": 1 << 20, "large": 17 << 20}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		for _, where := range []struct {
			name  string
			calls []uint32
		}{{"sync", atSync}, {"rename", atRename}} {
			for _, conflict := range []string{protocol.ConflictOverwrite, protocol.ConflictRename} {
				t.Run(fmt.Sprintf("%s at %s, %s", unix.ErrnoName(errno), where.name, conflict), func(t *testing.T) {
					for name, size := range sizes {
						if name == "large" && (errno == syscall.EDQUOT || where.name == "rename" || conflict == protocol.ConflictRename) {
							continue // this call takes time, but always behaves the same
						}
						sendToRefusingDisk(t, errno, where.calls, conflict, name, size)
					}
				})
			}
		}
	}
}

// sendToRefusingDisk sends a file to a disk that refuses it at the end, at the top level and in a
// folder, and again to a disk that accepts it.
func sendToRefusingDisk(t *testing.T, errno syscall.Errno, calls []uint32, conflict, what string, size int64) {
	from, to := inMemory(t), inMemory(t)
	tree := filepath.Join(from, "tree")
	if err := os.MkdirAll(filepath.Join(to, "tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"f", "tree/f"}
	for _, name := range names {
		writeLongFile(t, filepath.Join(from, name), size)
		if conflict == protocol.ConflictOverwrite {
			if err := os.WriteFile(filepath.Join(to, name), []byte("the old one"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := make(checkpoints)
	attempt := func(as func(func())) (Result, error) {
		root := open(t, from)
		items := []Item{{Root: root, At: "f", Name: "f"}, {Root: root, At: "tree", Name: "tree"}}
		res, _, err := connectBothAs(t, items, open(t, to), func(_ *Sender, r *Receiver) { r.Conflict, r.checkpoints = conflict, kept }, nil, as)
		return res, err
	}
	res, err := attempt(refuseCalls(t, errno, calls...))
	full := errno != syscall.EIO
	if full && !errors.Is(err, errno) || !full && err == nil && res.Failed == 0 {
		t.Fatalf("%s: got %+v, %v; want error %v for a full disk, and a failure for any", what, res, err, errno)
	}
	if !full && err == nil && !strings.Contains(res.Problems[0].Text, "input/output error") {
		t.Errorf("%s: got the problem %q, want an input/output error", what, res.Problems[0].Text)
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(to, name))
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			t.Fatal(err)
		case string(data) == "the old one" && conflict == protocol.ConflictOverwrite:
		case int64(len(data)) == size && hashOf(t, filepath.Join(to, name)) == hashOf(t, filepath.Join(from, name)) && slices.Equal(calls, atRename):
			// A call that was not refused has placed it.
		default:
			t.Errorf("%s: %s is %d bytes of something else", what, name, len(data))
		}
	}
	if slices.Equal(calls, atSync) {
		for _, line := range describe(t, to) {
			if strings.Contains(line, partSuffix) {
				t.Errorf("%s: what the disk has not taken is left to go on with: %s", what, line)
			}
		}
	}
	res, err = attempt(func(f func()) { f() })
	if err != nil || res.Failed != 0 {
		t.Fatalf("%s, when there is room: got %+v, %v; want no failure", what, res, err)
	}
	for _, name := range names {
		if hashOf(t, filepath.Join(to, name)) != hashOf(t, filepath.Join(from, name)) {
			t.Errorf("%s: %s is another file", what, name)
		}
	}
	for _, line := range describe(t, to) {
		if strings.Contains(line, partSuffix) || strings.Contains(line, "(2)") {
			t.Errorf(`%s: left: %s; want no %v and no "(2)"`, what, line, partSuffix)
		}
	}
}

// newOverfullDisk returns a file system that accepts more data than fits, and reports that only at
// a sync: its disk is a sparse file on a disk of mib MiB. grow adds space; anew mounts it again
// without what was only in memory.
func newOverfullDisk(t *testing.T, mib int) (dir string, grow, anew func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a file system")
	}
	under, dir := t.TempDir(), t.TempDir()
	run := func(name string, args ...string) error {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %v: %w: %s", name, args, err, out)
		}
		return nil
	}
	const front = 8 << 20 // enough for the file system's metadata
	mount := func(flags uintptr, mib int) error {
		return syscall.Mount("tmpfs", under, "tmpfs", flags, fmt.Sprintf("size=%dm", mib+front>>20))
	}
	if err := mount(0, 2*mib+front>>20); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(under, syscall.MNT_DETACH) })
	image := filepath.Join(under, "image")
	writeLongFile(t, image, front)
	if err := os.Truncate(image, 512<<20); err != nil {
		t.Fatal(err)
	}
	if err := run("mke2fs", "-q", "-F", "-t", "ext4", "-b", "4096", "-N", "256", "-m", "0", "-O", "^has_journal,^resize_inode", "-E", "nodiscard,lazy_itable_init=0", image); err != nil {
		t.Skip("no file system can be made here: ", err)
	}
	up := func() error {
		if err := run("mount", "-o", "loop,nodiscard", image, dir); err != nil {
			return err
		}
		return onePagePerRequest(dir)
	}
	if err := up(); err != nil {
		t.Skip("no file can be mounted here: ", err)
	}
	t.Cleanup(func() { run("umount", "-l", dir) })
	var st syscall.Statfs_t
	if err := syscall.Statfs(under, &st); err != nil {
		t.Fatal(err)
	}
	used := int(int64(st.Blocks-st.Bfree)*st.Bsize>>20) - front>>20
	if err := mount(syscall.MS_REMOUNT, used+mib); err != nil {
		t.Fatal(err)
	}
	grow = func() {
		t.Helper()
		if err := mount(syscall.MS_REMOUNT, 400); err != nil {
			t.Fatal(err)
		}
	}
	anew = func() {
		t.Helper()
		if err := run("umount", dir); err != nil {
			t.Fatal(err)
		}
		if err := up(); err != nil {
			t.Fatal(err)
		}
	}
	return dir, grow, anew
}

// onePagePerRequest limits the requests to the loop device of a mounted folder to one page. The
// driver reports a request as done of which its file took only a part, so the data of a file that
// was being written when the space ran out would be lost without an error.
func onePagePerRequest(dir string) error {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		if device, rest, _ := strings.Cut(line, " "); strings.HasPrefix(rest, dir+" ") {
			limit := filepath.Join("/sys/block", filepath.Base(device), "queue/max_sectors_kb")
			return os.WriteFile(limit, []byte(strconv.Itoa(os.Getpagesize()>>10)), 0o644)
		}
	}
	return fmt.Errorf("%s is not mounted", dir)
}

// The system shows data that such a disk did not accept, as long as it is in memory.
func TestDataNotOnTheDiskIsSentAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		room  int // MiB
		files int
		size  int64
	}{
		{"one file, refused at its end", 14, 1, 24 << 20},
		{"one file, refused on the way", 14, 1, 60 << 20},
		{"many files", 8, 24, 1 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk, grow, anew := newOverfullDisk(t, c.room)
			from := inMemory(t)
			for i := range c.files {
				writeLongFile(t, filepath.Join(from, fmt.Sprint(i)), c.size+int64(i))
			}
			kept := make(checkpoints)
			attempt := func() (Result, error) {
				to, err := os.OpenRoot(disk)
				if err != nil {
					t.Fatal(err)
				}
				defer to.Close()
				item := Item{Root: open(t, from), At: ".", Name: "tree"}
				res, _, err := connectBoth(t, []Item{item}, to, func(_ *Sender, r *Receiver) { r.checkpoints = kept }, nil)
				return res, err
			}
			res, err := attempt()
			if err == nil && res.Failed == 0 {
				t.Fatalf("the disk took it: got %+v, want a failure", res)
			}
			for i := range c.files {
				name := filepath.Join(disk, "tree", fmt.Sprint(i))
				if _, err := os.Stat(name); err == nil && hashOf(t, name) != hashOf(t, filepath.Join(from, fmt.Sprint(i))) {
					t.Errorf("%d is another file", i)
				}
			}
			grow()
			if res, err := attempt(); err != nil || res.Failed != 0 {
				t.Fatalf("with room: %+v, %v", res, err)
			}
			anew()
			if n := equal(t, from, filepath.Join(disk, "tree")); n != c.files {
				t.Errorf("%d files are there, want %d", n, c.files)
			}
		})
	}
}
