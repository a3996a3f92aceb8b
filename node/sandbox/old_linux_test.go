package sandbox_test

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox"
)

// withoutSeccomp makes the kernel answer seccomp(2) with an error, in this process and its
// descendants: for any flags, or only for some.
func withoutSeccomp(answer unix.Errno, flags uint32) error {
	const load, equal, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	no := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(answer)}
	prog := []unix.SockFilter{{Code: load}, {Code: equal, Jt: 1, K: unix.SYS_SECCOMP}, {Code: ret, K: unix.SECCOMP_RET_ALLOW}}
	if flags != 0 { // the low half of the second argument
		prog = append(prog, unix.SockFilter{Code: load, K: 24}, unix.SockFilter{Code: equal, Jt: 1, K: flags}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	}
	prog = append(prog, no)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	f := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&f)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return errno
	}
	return nil
}

func init() {
	// old runs a command where the kernel has no seccomp, or an old one, and prints what is
	// enforced and the command's output.
	plays["old"] = func() int {
		answer, flags := unix.ENOSYS, uint32(0)
		if os.Getenv("KERNEL") == "4.14" {
			answer, flags = unix.EINVAL, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW
		}
		if err := withoutSeccomp(answer, flags); err != nil {
			fmt.Print("skip: ", err)
			return 0
		}
		ws, err := os.MkdirTemp("", "ws")
		if err != nil {
			fmt.Print(err)
			return 1
		}
		defer os.RemoveAll(ws)
		box, err := sandbox.New(tContext(), sandbox.Options{})
		if err != nil {
			fmt.Print(err)
			return 1
		}
		defer box.Close()
		out, in, err := os.Pipe()
		if err != nil {
			fmt.Print(err)
			return 1
		}
		p, err := box.Start(sandbox.Spec{
			Profile: sandbox.Profile{Workspace: ws}, Argv: []string{"/bin/sh", "-c", "grep Seccomp: /proc/self/status"}, Dir: ws, Env: sandbox.Environ(ws, nil),
			Stdout: in,
		})
		in.Close()
		if err != nil {
			fmt.Print(err)
			return 1
		}
		said, _ := io.ReadAll(out)
		p.Wait()
		r := box.Report()
		fmt.Print(strings.Join(strings.Fields(string(said)), " "), " ", r.BlocksNetwork(), " ", r.Check(sandbox.CheckOrphans).Enforced)
		return 0
	}
}

// Restrictions that the kernel does not support are left out and reported, and do not keep commands
// from running.
func TestCommandsRunOnKernelsWithoutOrWithOldFilters(t *testing.T) {
	newKit(t)
	for kernel, want := range map[string]string{"none": "false true", "4.14": "true true"} {
		t.Run(kernel, func(t *testing.T) {
			out, err := roleCommand(t, "old", "KERNEL="+kernel).Output()
			if why, ok := strings.CutPrefix(string(out), "skip: "); ok {
				t.Skipf("no such kernel can be played here: %s", why)
			}
			// The filter of the play itself counts too.
			if err != nil || string(out) != "Seccomp: 2 "+want {
				t.Errorf("%s: %s, %v, want %s", kernel, out, err, want)
			}
		})
	}
}
