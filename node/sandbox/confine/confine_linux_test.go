package confine

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// judge runs a filter as the kernel would.
func judge(t *testing.T, prog []unix.SockFilter, arch, nr uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data[atNumber:], nr)
	binary.LittleEndian.PutUint32(data[atArch:], arch)
	for i, a := range args {
		binary.LittleEndian.PutUint64(data[atArg0+8*i:], a)
	}
	var acc uint32
	for pc := 0; pc < len(prog); pc++ {
		switch in := prog[pc]; in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = binary.LittleEndian.Uint32(data[in.K:])
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			pc += jump(in, acc == in.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			pc += jump(in, acc&in.K != 0)
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		default:
			t.Fatalf("instruction %d: code %#x", pc, in.Code)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func jump(in unix.SockFilter, yes bool) int {
	if yes {
		return int(in.Jt)
	}
	return int(in.Jf)
}

func TestFilterOfEveryProcessor(t *testing.T) {
	const allow, eperm, enosys = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	for name, a := range arches {
		for _, noNet := range []bool{false, true} {
			for _, noConnect := range []bool{false, true} {
				prog := filter(a, noNet, noConnect)
				when := func(b bool, yes uint32) uint32 {
					if b {
						return yes
					}
					return allow
				}
				for _, c := range []struct {
					what string
					arch uint32
					nr   uint32
					args []uint64
					want uint32
				}{
					{"another processor's call", unix.AUDIT_ARCH_I386, 3, nil, eperm},
					{"an ordinary call", a.audit, 3, nil, allow},
					{"io_uring", a.audit, a.uring, nil, when(noNet, enosys)},
					{"inet socket", a.audit, a.socket, []uint64{unix.AF_INET}, when(noNet, eperm)},
					{"inet6 socket", a.audit, a.socket, []uint64{unix.AF_INET6}, when(noNet, eperm)},
					{"netlink socket", a.audit, a.socket, []uint64{unix.AF_NETLINK}, when(noNet, eperm)},
					{"vsock socket", a.audit, a.socket, []uint64{unix.AF_VSOCK}, when(noNet, eperm)},
					{"unix socket", a.audit, a.socket, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}, allow},
					{"unix socket for packets", a.audit, a.socket, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET | unix.SOCK_CLOEXEC}, allow},
					{"unix socket for datagrams", a.audit, a.socket, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, when(noConnect, eperm)},
					{"raw unix socket", a.audit, a.socket, []uint64{unix.AF_UNIX, unix.SOCK_RAW | unix.SOCK_CLOEXEC}, when(noConnect, eperm)},
					{"a pair", a.audit, a.pair, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_NONBLOCK}, allow},
					{"a pair for packets", a.audit, a.pair, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
					{"a pair for datagrams", a.audit, a.pair, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, when(noConnect, eperm)},
					{"own limits", a.audit, a.prlimit, []uint64{0, 7}, allow},
					{"another's limits", a.audit, a.prlimit, []uint64{1234, 7}, eperm},
					{"connect", a.audit, a.connect, nil, when(noConnect, eperm)},
					{"send", a.audit, a.sendto, []uint64{3, 1, 1, 0, 0, 0}, allow},
					{"sendto low", a.audit, a.sendto, []uint64{3, 1, 1, 0, 0x1000, 16}, when(noConnect, eperm)},
					{"sendto high", a.audit, a.sendto, []uint64{3, 1, 1, 0, 0x1000_0000_0000, 16}, when(noConnect, eperm)},
				} {
					if got := judge(t, prog, c.arch, c.nr, c.args...); got != c.want {
						t.Errorf("%s noNet %v noConnect %v: %s gives %#x, want %#x", name, noNet, noConnect, c.what, got, c.want)
					}
				}
				for _, nr := range a.never {
					if got := judge(t, prog, a.audit, nr); got != eperm {
						t.Errorf("%s: call %d gives %#x", name, nr, got)
					}
				}
				if a.x32 != 0 && judge(t, prog, a.audit, a.x32|a.socket, unix.AF_INET) != eperm {
					t.Errorf("%s: a call with the x32 bit is not refused", name)
				}
			}
		}
	}
	if a := arches[runtime.GOARCH]; a.audit != 0 {
		native := []uint32{
			unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_IO_URING_SETUP, unix.SYS_CONNECT, unix.SYS_SENDTO, unix.SYS_PRLIMIT64, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV,
			unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		}
		if have := append([]uint32{a.socket, a.pair, a.uring, a.connect, a.sendto, a.prlimit}, a.never...); !slices.Equal(have, native) {
			t.Errorf("numbers %v, the system's are %v", have, native)
		}
	}
}

// bound runs f on a thread bound by the rules, which ends with it.
func bound(t *testing.T, r Rules, files *Ruleset, f func()) {
	t.Helper()
	ended := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := Thread(r)
		if err == nil && files != nil {
			err = files.Bind()
		}
		if err == nil {
			f()
		}
		ended <- err
	}()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestOnlyTheThreadIsBound(t *testing.T) {
	dir := t.TempDir()
	r, err := NewRuleset(Files{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var there, here error
	bound(t, Rules{Filter: true, NoNet: true}, r, func() {
		_, there = os.Create(filepath.Join(dir, "there"))
		if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err != unix.EPERM {
			t.Errorf("a socket on the bound thread: %d %v", fd, err)
		}
	})
	if there == nil {
		t.Error("the bound thread writes")
	}
	if f, err := os.Create(filepath.Join(dir, "here")); err != nil {
		t.Error(here)
	} else {
		f.Close()
	}
	if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err != nil {
		t.Error(err)
	} else {
		unix.Close(fd)
	}
}

func TestRulesetHidesAndGrants(t *testing.T) {
	dir := t.TempDir()
	path := func(s string) string { return filepath.Join(dir, filepath.FromSlash(s)) }
	for _, f := range []string{"open/a", "home/note", "home/secret/key", "home/secret/ws/file", "home/secret/ws/inner/key", "home/secret/shown"} {
		os.MkdirAll(filepath.Dir(path(f)), 0o700)
		if err := os.WriteFile(path(f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"home/link": "home/secret", "alias": "home", "home/secret/ws/out": "home/secret"} {
		if err := os.Symlink(path(to), path(link)); err != nil {
			t.Fatal(err)
		}
	}
	files := Files{
		Hidden: []string{path("home/secret"), path("home/secret/ws/inner"), path("alias/not-yet")},
		Read:   []string{path("home/secret/shown")},
		Write:  []string{path("home/secret/ws"), path("gone")},
	}
	var r *Ruleset
	for tries := 0; r == nil || !r.Fresh(); tries++ { // others make files in the shared temporary folder, which is listed on the way
		if tries == 100 {
			t.Fatal("stale at once, time and again")
		}
		var err error
		if r, err = NewRuleset(files); err != nil {
			t.Fatal(err)
		}
		defer r.Close()
	}
	bound(t, Rules{}, r, func() {
		for f, readable := range map[string]bool{
			"open/a": true, "home/note": true, "home/secret/key": false, "home/link/key": false,
			"home/secret/shown":   true,
			"home/secret/ws/file": true, "home/secret/ws/inner/key": false, "home/secret/ws/out/key": false, "home/secret/ws/../key": false,
		} {
			if _, err := os.ReadFile(path(f)); (err == nil) != readable {
				t.Errorf("%s: %v, readable should be %v", f, err, readable)
			}
		}
		for f, writable := range map[string]bool{
			"open/a": false, "home/note": false, "home/secret/shown": false, "home/secret/ws/file": true,
			"home/secret/ws/inner/key": false, "home/secret/ws/inner/new": false,
		} {
			if err := os.WriteFile(path(f), []byte("y"), 0o600); (err == nil) != writable {
				t.Errorf("%s: %v, writable should be %v", f, err, writable)
			}
		}
	})
	if err := os.WriteFile(path("home/not-yet"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r.Fresh() {
		t.Error("a folder that was listed has changed, and the ruleset counts as fresh")
	}
}

func TestHandledRightsGrowWithTheKernel(t *testing.T) {
	for abi := 1; abi < 12; abi++ {
		if h := handled(abi); handled(abi+1)&h != h {
			t.Errorf("ABI %d knows less than %d", abi+1, abi)
		}
	}
	if handled(1) != 1<<13-1 || handled(9) != 1<<17-1 {
		t.Errorf("%#x %#x", handled(1), handled(9))
	}
}
