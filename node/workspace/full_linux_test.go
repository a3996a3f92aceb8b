package workspace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func init() { roles["full disk"] = fullDisk }

// fullDisk writes on a disk of 256 KiB that only this process sees. It prints the results.
func fullDisk(dir string) {
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		fmt.Print("skip: ", err)
		return
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		fmt.Print("skip: ", err)
		return
	}
	r, err := Open(dir)
	if err != nil {
		panic(err)
	}
	p, _ := r.Resolve("f")
	if _, err := r.Write(p, []byte("old"), "", nil); err != nil {
		panic(err)
	}
	_, err = r.Write(p, make([]byte, 1<<20), "", nil)
	data, _ := os.ReadFile(filepath.Join(dir, "f"))
	list, _ := os.ReadDir(dir)
	_, after := r.Write(p, []byte("new"), "", nil)
	fmt.Printf("%v|%s|%d|%v", err, data, len(list), after)
}

func TestADiskWithoutSpaceLeavesTheOldFile(t *testing.T) {
	cmd, stdin, stdout := startRole(t, "full disk", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no disk can be made here: %v", err)
	}
	said, _ := io.ReadAll(stdout)
	stdin.Close()
	cmd.Wait()
	if why, ok := strings.CutPrefix(string(said), "skip: "); ok {
		t.Skipf("no disk can be made here: %s", why)
	}
	if string(said) != "no space left on device|old|1|<nil>" {
		t.Errorf("got %s, want %s", said, "no space left on device|old|1|<nil>")
	}
}
