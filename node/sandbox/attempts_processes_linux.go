package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The following functions try to reach other processes of the user. If they succeed, nothing
// changes: values are set to their present ones, and created objects are removed.

const (
	kcmpVM   = 1 // KCMP_VM of linux/kcmp.h
	ioWhoPID = 1 // IOPRIO_WHO_PROCESS of linux/ioprio.h
)

func (t targets) kcmp() error {
	_, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(t.Node), uintptr(t.Node), kcmpVM, 0, 0, 0)
	return orNil(errno)
}

// perf counts the events of this process: where a command may do that, only a kernel setting
// protects other processes.
func (t targets) perf() error {
	fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func (t targets) nice() error {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, t.Node)
	if err != nil {
		return err
	}
	// The kernel returns 20 minus the value.
	return unix.Setpriority(unix.PRIO_PROCESS, t.Node, 20-n)
}

func (t targets) processors() error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(t.Node, &set); err != nil {
		return err
	}
	return unix.SchedSetaffinity(t.Node, &set)
}

func (t targets) scheduler() error {
	attr, err := unix.SchedGetAttr(t.Node, 0)
	if err != nil {
		return err
	}
	return unix.SchedSetAttr(t.Node, attr, 0)
}

func (t targets) ioPriority() error {
	value, _, errno := unix.Syscall(unix.SYS_IOPRIO_GET, ioWhoPID, uintptr(t.Node), 0)
	if errno != 0 {
		return errno
	}
	return call3(unix.SYS_IOPRIO_SET, ioWhoPID, uintptr(t.Node), value)
}

func (t targets) limits() error {
	var lim unix.Rlimit
	if err := unix.Prlimit(t.Node, unix.RLIMIT_CORE, nil, &lim); err != nil {
		return err
	}
	return unix.Prlimit(t.Node, unix.RLIMIT_CORE, &lim, nil)
}

func sharedMemory() error {
	id, _, errno := unix.Syscall(unix.SYS_SHMGET, unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if errno == 0 {
		unix.Syscall(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0)
	}
	return orNil(errno)
}

func semaphores() error {
	id, _, errno := unix.Syscall(unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o600)
	if errno == 0 {
		unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID)
	}
	return orNil(errno)
}

func messages() error {
	id, _, errno := unix.Syscall(unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o600, 0)
	if errno == 0 {
		unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0)
	}
	return orNil(errno)
}

func messageQueue() error {
	name := append([]byte("fairlead-probe"), 0)
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600, 0, 0, 0)
	if errno == 0 {
		unix.Close(int(fd))
		unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(&name[0])), 0, 0)
	}
	return orNil(errno)
}

func orNil(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
