package stream

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Disks with other rules, such as FAT, exFAT and those of a network, answer with these errors.
func TestRefusalsOfADiskAreExplained(t *testing.T) {
	atMode := []uint32{unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2}
	for _, c := range []struct {
		errno syscall.Errno
		calls []uint32
		want  string // the problem; empty: the file is stored
	}{
		{unix.EINVAL, atRename, "the disk does not allow the name"},
		{unix.EILSEQ, atRename, "the disk does not allow the name"},
		{unix.ENAMETOOLONG, atRename, "the name is too long for the disk"},
		{unix.EROFS, atRename, "the disk is read-only"},
		{unix.EFBIG, []uint32{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE}, "4 GiB"},
		{unix.EPERM, atMode, ""},
		{unix.ENOSYS, atMode, ""},
		{unix.EOPNOTSUPP, atMode, ""},
		{unix.EPERM, []uint32{unix.SYS_UTIMENSAT}, ""},
		{unix.EPERM, []uint32{unix.SYS_LINKAT}, ""},
		{unix.EOPNOTSUPP, []uint32{unix.SYS_LINKAT}, ""},
		{unix.EPERM, []uint32{unix.SYS_SYMLINKAT}, "symbolic link"},
	} {
		t.Run(unix.ErrnoName(c.errno)+" "+c.want, func(t *testing.T) {
			from, to := t.TempDir(), t.TempDir()
			writeLongFile(t, filepath.Join(from, "f"), 3<<20)
			if err := os.Chmod(filepath.Join(from, "f"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("f", filepath.Join(from, "link")); err != nil {
				t.Fatal(err)
			}
			res, _, err := connectBothAs(t, []Item{{Root: open(t, from), At: ".", Name: "tree"}}, open(t, to), func(*Sender, *Receiver) {}, nil, refuseCalls(t, c.errno, c.calls...))
			var problems []string
			for _, p := range res.Problems {
				problems = append(problems, p.Text)
			}
			if text := strings.Join(problems, "\n"); err != nil || !strings.Contains(text, c.want) {
				t.Errorf("got %d failures, %v, problems %q, want %q", res.Failed, err, text, c.want)
			}
			if isStored := c.want == "" || c.calls[0] == unix.SYS_SYMLINKAT; isStored && res.Failed != 0 {
				t.Errorf("got %d failures, want none", res.Failed)
			}
			if c.want == "" && hashOf(t, filepath.Join(to, "tree", "f")) != hashOf(t, filepath.Join(from, "f")) {
				t.Error("the file is not there")
			}
		})
	}
}
