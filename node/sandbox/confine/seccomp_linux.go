package confine

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arch describes a processor for a filter. A kernel that runs programs of several processors uses
// separate call numbers for each, so all but the native ones are refused, including the calls of
// 32-bit programs.
type arch struct {
	audit uint32
	// x32 is the bit that marks the second set of numbers on amd64, 0 elsewhere.
	x32                                  uint32
	socket, pair, uring, connect, sendto uint32
	number                               func(call) uint32
}

var arches = map[string]arch{
	"amd64": {
		audit: unix.AUDIT_ARCH_X86_64, x32: 0x40000000, socket: 41, pair: 53, uring: 425, connect: 42, sendto: 44,
		number: func(c call) uint32 { return c.amd64 },
	},
	"arm64": {
		audit: unix.AUDIT_ARCH_AARCH64, socket: 198, pair: 199, uring: 425, connect: 203, sendto: 206,
		number: func(c call) uint32 { return c.arm64 },
	},
}

// Filters reports whether a system call filter exists for this processor and the kernel accepts it.
// Some do not: WSL 1, small devices, containers that forbid it.
func Filters() bool { return arches[runtime.GOARCH].audit != 0 && install(0, nil) == unix.EFAULT }

// install gives the kernel a filter for the calling thread. Without a filter it only asks: the
// kernel answers with EFAULT if it would accept one.
func install(flags uintptr, prog *unix.SockFprog) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(prog)))
	return errno
}

// Offsets in struct seccomp_data; both processors are little-endian, so the low half of an argument
// comes first.
const (
	atNumber = 0
	atArch   = 4
	atArg0   = 16
	atArg1   = 24
	atArg4   = 48
)

// Instructions and results of filters.
const (
	load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	ret   = unix.BPF_RET | unix.BPF_K

	allow = unix.SECCOMP_RET_ALLOW
	deny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	noSys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// refuse returns a filter that gives a call a result regardless of its arguments. Like the other
// parts of a filter, it expects the loaded call number and leaves it loaded.
func refuse(nr, result uint32) []unix.SockFilter {
	return []unix.SockFilter{{Code: equal, Jf: 1, K: nr}, {Code: ret, K: result}}
}

// filter returns a filter with the rules of all calls. With noNet it denies every socket but Unix
// ones, and io_uring, whose operations no filter sees; with noConnect it also denies connections to
// other processes.
func filter(a arch, noNet, noConnect bool) []unix.SockFilter {
	prog := []unix.SockFilter{{Code: load, K: atArch}, {Code: equal, Jt: 1, K: a.audit}, {Code: ret, K: deny}, {Code: load, K: atNumber}}
	if a.x32 != 0 {
		prog = append(prog, unix.SockFilter{Code: bits, Jf: 1, K: a.x32}, unix.SockFilter{Code: ret, K: deny})
	}
	for _, c := range calls {
		prog = append(prog, c.filter(a.number(c))...)
	}
	if noConnect {
		prog = append(prog, connectFilter(a)...)
	}
	if noNet {
		prog = append(prog, refuse(a.uring, noSys)...)
		prog = append(prog, unix.SockFilter{Code: equal, Jf: 3, K: a.socket}, unix.SockFilter{Code: load, K: atArg0},
			unix.SockFilter{Code: equal, Jt: 1, K: unix.AF_UNIX}, unix.SockFilter{Code: ret, K: deny})
	}
	return append(prog, unix.SockFilter{Code: ret, K: allow})
}

// filter applies the call's rule to the call number nr. Process numbers have 32 bits, so only the
// low half of an argument counts.
func (c call) filter(nr uint32) []unix.SockFilter {
	switch c.rule {
	case absent:
		return refuse(nr, noSys)
	case ownProcess:
		return []unix.SockFilter{
			{Code: equal, Jf: 4, K: nr},
			{Code: load, K: atArg0},
			{Code: equal, Jt: 1, K: 0},
			{Code: ret, K: deny},
			{Code: load, K: atNumber},
		}
	case noSpaces:
		return []unix.SockFilter{
			{Code: equal, Jf: 4, K: nr},
			{Code: load, K: atArg0},
			{Code: bits, Jf: 1, K: spaces},
			{Code: ret, K: deny},
			{Code: load, K: atNumber},
		}
	case ownGroup:
		return []unix.SockFilter{
			{Code: equal, Jf: 6, K: nr},
			{Code: load, K: atArg1},
			{Code: equal, Jf: 2, K: 0},
			{Code: load, K: atArg0},
			{Code: equal, Jf: 1, K: ofUser[c.name]},
			{Code: ret, K: deny},
			{Code: load, K: atNumber},
		}
	}
	return refuse(nr, deny)
}

// connectFilter denies connections to other processes, which leaves pairs of sockets. Unix datagram
// sockets are denied, including pairs of them: sendmsg can address any socket with them, in memory
// that no filter sees.
func connectFilter(a arch) []unix.SockFilter {
	prog := refuse(a.connect, deny)
	// sendto without an address is send; both halves of the pointer are checked.
	prog = append(prog, unix.SockFilter{Code: equal, Jf: 5, K: a.sendto},
		unix.SockFilter{Code: load, K: atArg4}, unix.SockFilter{Code: equal, Jf: 2},
		unix.SockFilter{Code: load, K: atArg4 + 4}, unix.SockFilter{Code: equal, Jt: 1}, unix.SockFilter{Code: ret, K: deny},
		unix.SockFilter{Code: load, K: atNumber})
	// Of the kinds of Unix sockets, only those for datagrams, SOCK_DGRAM and SOCK_RAW, have the bit
	// of SOCK_DGRAM.
	for _, nr := range []uint32{a.socket, a.pair} {
		prog = append(prog, unix.SockFilter{Code: equal, Jf: 6, K: nr},
			unix.SockFilter{Code: load, K: atArg0}, unix.SockFilter{Code: equal, Jf: 3, K: unix.AF_UNIX},
			unix.SockFilter{Code: load, K: atArg1}, unix.SockFilter{Code: bits, Jf: 1, K: unix.SOCK_DGRAM}, unix.SockFilter{Code: ret, K: deny},
			unix.SockFilter{Code: load, K: atNumber})
	}
	return prog
}

// seccomp restricts the calling thread by the filter; no_new_privs must be set.
func seccomp(noNet, noConnect bool) error {
	a, ok := arches[runtime.GOARCH]
	if !ok {
		return errors.New("no system call filter exists for " + runtime.GOARCH)
	}
	f := filter(a, noNet, noConnect)
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	// Without SPEC_ALLOW, kernels from 4.17 to 5.15 slow down every process with a filter; earlier
	// ones do not know the flag.
	errno := install(unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, &prog)
	if errno == unix.EINVAL {
		errno = install(0, &prog)
	}
	runtime.KeepAlive(f)
	if errno != 0 {
		return fmt.Errorf("setting the system call filter: %w", errno)
	}
	return nil
}

// rule decides about a system call of a restricted thread, regardless of the network setting.
type rule int

const (
	// never fails with EPERM: the call inspects other processes or the kernel's keys of the user, or
	// changes what is mounted where.
	never rule = iota
	// absent fails with ENOSYS, as on a kernel without the call. Most of these reach memory,
	// semaphores or queues of other programs of the user, and the objects that they create outlive
	// the command. A separate name space would need a user name space, which many systems forbid.
	absent
	// ownProcess fails with EPERM unless its first argument is 0, the calling process or thread. A
	// filter cannot know which other numbers belong to the command, so a program that names itself
	// or one of its threads by number is refused too.
	ownProcess
	// ownGroup fails with EPERM unless its second argument is 0 and its first one does not mean all
	// processes of a user.
	ownGroup
	// noSpaces fails with EPERM if the flags in its first argument create a name space, in which a
	// command could change its view of the files.
	noSpaces
)

// spaces are the flags of clone(2) and unshare(2) that create name spaces, except the one for time,
// which clone(2) does not have.
const spaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// call is a system call with its rule and its numbers on the supported processors.
type call struct {
	name         string
	amd64, arm64 uint32
	rule         rule
}

var calls = []call{
	{"ptrace", 101, 117, never},
	{"process_vm_readv", 310, 270, never},
	{"process_vm_writev", 311, 271, never},
	{"pidfd_getfd", 438, 438, never},
	{"process_madvise", 440, 440, never},
	{"kcmp", 312, 272, never},
	{"perf_event_open", 298, 241, never},
	{"add_key", 248, 217, never},
	{"request_key", 249, 218, never},
	{"keyctl", 250, 219, never},
	{"shmget", 29, 194, absent},
	{"shmat", 30, 196, absent},
	{"shmctl", 31, 195, absent},
	{"semget", 64, 190, absent},
	{"semop", 65, 193, absent},
	{"semtimedop", 220, 192, absent},
	{"semctl", 66, 191, absent},
	{"msgget", 68, 186, absent},
	{"msgsnd", 69, 189, absent},
	{"msgrcv", 70, 188, absent},
	{"msgctl", 71, 187, absent},
	{"mq_open", 240, 180, absent},
	{"mq_unlink", 241, 181, absent},
	{"mq_timedsend", 242, 182, absent},
	{"mq_timedreceive", 243, 183, absent},
	{"mq_notify", 244, 184, absent},
	{"mq_getsetattr", 245, 185, absent},
	{"prlimit64", 302, 261, ownProcess},
	{"sched_setaffinity", 203, 122, ownProcess},
	{"sched_setscheduler", 144, 119, ownProcess},
	{"sched_setparam", 142, 118, ownProcess},
	{"sched_setattr", 314, 274, ownProcess},
	{"migrate_pages", 256, 238, ownProcess},
	{"move_pages", 279, 239, ownProcess},
	{"setpriority", 141, 140, ownGroup},
	{"ioprio_set", 251, 30, ownGroup},
	{"unshare", 272, 97, noSpaces},
	{"clone", 56, 220, noSpaces},
	{"clone3", 435, 435, absent}, // no filter sees its flags; the C library then uses clone
	{"setns", 308, 268, never},
	{"mount", 165, 40, never},
	{"umount2", 166, 39, never},
	{"pivot_root", 155, 41, never},
	{"open_tree", 428, 428, never},
	{"open_tree_attr", 467, 467, never},
	{"move_mount", 429, 429, never},
	{"fsopen", 430, 430, never},
	{"fsconfig", 431, 431, never},
	{"fsmount", 432, 432, never},
	{"fspick", 433, 433, never},
	{"mount_setattr", 442, 442, never},
}

// ofUser is the first argument of an ownGroup call that means all processes of a user: PRIO_USER
// and IOPRIO_WHO_USER.
var ofUser = map[string]uint32{"setpriority": 2, "ioprio_set": 3}
