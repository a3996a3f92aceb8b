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
					{"another processor's call", unix.AUDIT_ARCH_I386, 3, nil, deny},
					{"an ordinary call", a.audit, 3, nil, allow},
					{"io_uring", a.audit, a.uring, nil, when(noNet, noSys)},
					{"inet socket", a.audit, a.socket, []uint64{unix.AF_INET}, when(noNet, deny)},
					{"inet6 socket", a.audit, a.socket, []uint64{unix.AF_INET6}, when(noNet, deny)},
					{"netlink socket", a.audit, a.socket, []uint64{unix.AF_NETLINK}, when(noNet, deny)},
					{"vsock socket", a.audit, a.socket, []uint64{unix.AF_VSOCK}, when(noNet, deny)},
					{"unix socket", a.audit, a.socket, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}, allow},
					{"unix socket for packets", a.audit, a.socket, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET | unix.SOCK_CLOEXEC}, allow},
					{"unix socket for datagrams", a.audit, a.socket, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, when(noConnect, deny)},
					{"raw unix socket", a.audit, a.socket, []uint64{unix.AF_UNIX, unix.SOCK_RAW | unix.SOCK_CLOEXEC}, when(noConnect, deny)},
					{"a pair", a.audit, a.pair, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_NONBLOCK}, allow},
					{"a pair for packets", a.audit, a.pair, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
					{"a pair for datagrams", a.audit, a.pair, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, when(noConnect, deny)},
					{"connect", a.audit, a.connect, nil, when(noConnect, deny)},
					{"send", a.audit, a.sendto, []uint64{3, 1, 1, 0, 0, 0}, allow},
					{"sendto low", a.audit, a.sendto, []uint64{3, 1, 1, 0, 0x1000, 16}, when(noConnect, deny)},
					{"sendto high", a.audit, a.sendto, []uint64{3, 1, 1, 0, 0x1000_0000_0000, 16}, when(noConnect, deny)},
				} {
					t.Run(c.what, func(t *testing.T) {
						if got := judge(t, prog, c.arch, c.nr, c.args...); got != c.want {
							t.Errorf("%s noNet %v noConnect %v: %s gives %#x, want %#x", name, noNet, noConnect, c.what, got, c.want)
						}
					})
				}
				if a.x32 != 0 && judge(t, prog, a.audit, a.x32|a.socket, unix.AF_INET) != deny {
					t.Errorf("%s: a call with the x32 bit is not refused", name)
				}
			}
		}
	}
}

func TestEveryCallObeysItsRule(t *testing.T) {
	for name, a := range arches {
		prog := filter(a, false, false)
		for _, c := range calls {
			user := uint64(ofUser[c.name])
			for _, k := range map[rule][]struct {
				args []uint64
				want uint32
			}{
				never:      {{nil, deny}, {[]uint64{1234}, deny}},
				absent:     {{nil, noSys}, {[]uint64{1234}, noSys}},
				noSpaces:   {{nil, allow}, {[]uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_FS}, allow}, {[]uint64{unix.CLONE_NEWUSER}, deny}, {[]uint64{unix.CLONE_NEWNS | 1<<32}, deny}},
				ownProcess: {{[]uint64{0, 7}, allow}, {[]uint64{1 << 32, 7}, allow}, {[]uint64{1234, 7}, deny}, {[]uint64{1<<32 - 1, 7}, deny}},
				ownGroup: {
					{[]uint64{user - 2, 0}, allow},
					{[]uint64{user - 1, 0}, allow},
					{[]uint64{user, 0}, deny},
					{[]uint64{user - 2, 1234}, deny},
					{[]uint64{user - 1, 1234}, deny},
					{[]uint64{user, 1234}, deny},
				},
			}[c.rule] {
				if got := judge(t, prog, a.audit, a.number(c), k.args...); got != k.want {
					t.Errorf("%s: %s%v gives %#x, want %#x", name, c.name, k.args, got, k.want)
				}
			}
		}
	}
}

// native are the system's own numbers.
var native = map[string]uint32{
	"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "process_vm_writev": unix.SYS_PROCESS_VM_WRITEV,
	"pidfd_getfd": unix.SYS_PIDFD_GETFD, "process_madvise": unix.SYS_PROCESS_MADVISE, "kcmp": unix.SYS_KCMP, "perf_event_open": unix.SYS_PERF_EVENT_OPEN,
	"add_key": unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY, "keyctl": unix.SYS_KEYCTL,
	"shmget": unix.SYS_SHMGET, "shmat": unix.SYS_SHMAT, "shmctl": unix.SYS_SHMCTL, "semget": unix.SYS_SEMGET, "semop": unix.SYS_SEMOP,
	"semtimedop": unix.SYS_SEMTIMEDOP, "semctl": unix.SYS_SEMCTL, "msgget": unix.SYS_MSGGET, "msgsnd": unix.SYS_MSGSND, "msgrcv": unix.SYS_MSGRCV,
	"msgctl": unix.SYS_MSGCTL, "mq_open": unix.SYS_MQ_OPEN, "mq_unlink": unix.SYS_MQ_UNLINK, "mq_timedsend": unix.SYS_MQ_TIMEDSEND,
	"mq_timedreceive": unix.SYS_MQ_TIMEDRECEIVE, "mq_notify": unix.SYS_MQ_NOTIFY, "mq_getsetattr": unix.SYS_MQ_GETSETATTR,
	"prlimit64": unix.SYS_PRLIMIT64, "sched_setaffinity": unix.SYS_SCHED_SETAFFINITY, "sched_setscheduler": unix.SYS_SCHED_SETSCHEDULER,
	"sched_setparam": unix.SYS_SCHED_SETPARAM, "sched_setattr": unix.SYS_SCHED_SETATTR, "migrate_pages": unix.SYS_MIGRATE_PAGES,
	"move_pages": unix.SYS_MOVE_PAGES, "setpriority": unix.SYS_SETPRIORITY, "ioprio_set": unix.SYS_IOPRIO_SET,
	"unshare": unix.SYS_UNSHARE, "clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3, "setns": unix.SYS_SETNS, "mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2,
	"pivot_root": unix.SYS_PIVOT_ROOT, "open_tree": unix.SYS_OPEN_TREE, "open_tree_attr": unix.SYS_OPEN_TREE_ATTR, "move_mount": unix.SYS_MOVE_MOUNT,
	"fsopen": unix.SYS_FSOPEN, "fsconfig": unix.SYS_FSCONFIG, "fsmount": unix.SYS_FSMOUNT, "fspick": unix.SYS_FSPICK, "mount_setattr": unix.SYS_MOUNT_SETATTR,
}

func TestSyscallNumbersAreThoseOfTheSystem(t *testing.T) {
	a, ok := arches[runtime.GOARCH]
	if !ok {
		t.Skip("no filter for " + runtime.GOARCH)
	}
	for _, c := range calls {
		if got, want := a.number(c), native[c.name]; got != want {
			t.Errorf("%s: got number %d, want %d", c.name, got, want)
		}
	}
	got, want := []uint32{a.socket, a.pair, a.uring, a.connect, a.sendto}, []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_IO_URING_SETUP, unix.SYS_CONNECT, unix.SYS_SENDTO}
	if !slices.Equal(got, want) {
		t.Errorf("got numbers %v, want %v", got, want)
	}
}

// bound runs f on a thread restricted by the rules, which ends with it.
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
			t.Errorf("a socket on the bound thread: %d %v, want %v", fd, err, unix.EPERM)
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
	// Other programs create files in the shared temporary folder, which is listed on the way.
	for tries := 0; r == nil || !r.Fresh(); tries++ {
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
		if h := handledRights(abi); handledRights(abi+1)&h != h {
			t.Errorf("ABI %d knows less than %d, want at least the same rights", abi+1, abi)
		}
	}
	if handledRights(1) != 1<<13-1 || handledRights(9) != 1<<17-1 {
		t.Errorf("got %#x %#x; want 13 rights in version 1 and 17 in version 9", handledRights(1), handledRights(9))
	}
}
