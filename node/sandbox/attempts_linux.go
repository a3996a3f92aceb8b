package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// targets are what a contained process tries to reach; all of it belongs to the node.
type targets struct {
	Workspace, Outside, Secret string
	TCP, UDP                   int // ports of 127.0.0.1
	Unix, Datagram, Abstract   string
	Node                       int
}

type attempt struct {
	Succeeded    bool   // which must not happen
	Inconclusive bool   // it failed in a way that proves nothing
	Result       string // the error
}

// findings are the attempts by check, and the actions that a contained process must be able to do.
type findings struct {
	Attempts map[string]attempt
	Problem  string
	Stray    int
}

// attempts makes every attempt, by check. All system calls of one rule of package confine are in the
// same filter, so one of them is tried. If an attempt succeeds, nothing changes: values are set to
// their present ones, and created objects are removed.
func (t targets) attempts() map[string]attempt {
	return map[string]attempt{
		CheckWriteOutside: attemptEach(
			func() error { return os.WriteFile(filepath.Join(t.Outside, "new"), nil, 0o600) },
			func() error { return os.Truncate(filepath.Join(t.Outside, "old"), 0) },
			func() error { return os.Remove(filepath.Join(t.Outside, "old")) },
			func() error { return os.Link(filepath.Join(t.Outside, "old"), filepath.Join(t.Workspace, "linked")) },
			func() error {
				os.Symlink(filepath.Join(t.Outside, "dangling"), filepath.Join(t.Workspace, "out"))
				return os.WriteFile(filepath.Join(t.Workspace, "out"), nil, 0o600)
			}),
		CheckReadSecrets: attemptEach(func() error { _, err := os.ReadFile(t.Secret); return err }),
		CheckProtected: attemptEach(
			func() error {
				return os.WriteFile(filepath.Join(t.Workspace, ".git", "hooks", "pre-commit"), nil, 0o700)
			},
			func() error {
				return os.Rename(filepath.Join(t.Workspace, ".git"), filepath.Join(t.Workspace, "moved"))
			}),
		CheckMetadata: attemptEach(func() error { return os.Chmod(filepath.Join(t.Outside, "old"), 0o640) }),
		CheckTCP:      attemptEach(connect(unix.AF_INET, unix.SOCK_STREAM, 0, loopback(t.TCP))),
		CheckMPTCP:    attemptEach(connect(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, loopback(t.TCP))),
		CheckUDP:      attemptEach(connect(unix.AF_INET, unix.SOCK_DGRAM, 0, loopback(t.UDP)), connect(unix.AF_INET6, unix.SOCK_DGRAM, 0, nil)),
		CheckRaw: attemptEach(connect(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP, nil),
			connect(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, nil)),
		CheckUring: attemptEach(func() error {
			var params [120]byte // struct io_uring_params
			_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
			return orNil(errno)
		}),
		CheckTrace: attemptEach(func() error {
			var b [1]byte
			iov := unix.Iovec{Base: &b[0], Len: 1}
			_, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{iov}, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&b)), Len: 1}}, 0)
			return err
		}, func() error { return unix.PtraceAttach(t.Node) }),
		CheckIPC:      attemptEach(sharedMemory),
		CheckPriority: attemptEach(t.limits),
		CheckSignal:   attemptEach(func() error { return unix.Kill(t.Node, 0) }),
		CheckUnix: attemptEach(connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: t.Unix}),
			datagram(t.Datagram, func() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0) }),
			datagram(t.Datagram, func() (int, error) {
				pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
				return pair[0], err
			})),
		CheckAbstract: attemptEach(connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: t.Abstract})),
		CheckPIDs:     attemptEach(func() error { _, err := os.Stat(fmt.Sprintf("/proc/%d/stat", t.Node)); return err }),
		CheckPrograms: attemptEach(deniedProgram),
		CheckCaps:     attemptEach(capabilities), CheckPrivs: attemptEach(newPrivileges), CheckForks: attemptEach(forks),
	}
}

// attemptAll runs contained and reports on stdout what it could do. It ends when its stdin ends.
func attemptAll(arg string) error {
	var t targets
	if err := json.Unmarshal([]byte(arg), &t); err != nil {
		return err
	}
	f := findings{Attempts: t.attempts()}
	if err := os.WriteFile(filepath.Join(t.Workspace, "canary"), []byte("x"), 0o600); err != nil {
		f.Problem = err.Error()
	}
	if _, err := os.CreateTemp("", "canary"); err != nil {
		f.Problem = err.Error()
	}
	var err error
	f.Stray, err = syscall.ForkExec(self, []string{self, helperWord, "linger"}, &syscall.ProcAttr{Dir: "/", Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		f.Problem = "start a process: " + err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin) // until the probe has checked the stray process
	return err
}

// attemptEach makes several attempts of one kind and returns the one that got furthest.
func attemptEach(fs ...func() error) attempt {
	var a attempt
	for i, f := range fs {
		err := f()
		switch {
		case err == nil:
			return attempt{Succeeded: true}
		case i == 0 || !a.Inconclusive && !isDenial(err):
			a = attempt{Result: err.Error(), Inconclusive: !isDenial(err)}
		}
	}
	return a
}

var denials = []error{unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EXDEV, unix.ENOENT, unix.EPROTONOSUPPORT, unix.EAFNOSUPPORT, unix.EROFS, unix.EBUSY, errNone}

// isDenial reports whether err is the refusal of a layer, not an unrelated failure.
func isDenial(err error) bool {
	return slices.ContainsFunc(denials, func(no error) bool { return errors.Is(err, no) })
}

var errNone = errors.New("it does not have any")

func loopback(port int) unix.Sockaddr {
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
}

// connect makes a socket and, if there is an address, connects it.
func connect(family, kind, protocol int, to unix.Sockaddr) func() error {
	return func() error {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if to == nil {
			return nil
		}
		return unix.Connect(fd, to)
	}
}

func datagram(to string, open func() (int, error)) func() error {
	return func() error {
		fd, err := open()
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Sendmsg(fd, []byte("x"), nil, &unix.SockaddrUnix{Name: to}, 0)
	}
}

func (t targets) limits() error {
	var lim unix.Rlimit
	if err := unix.Prlimit(t.Node, unix.RLIMIT_CORE, nil, &lim); err != nil {
		return err
	}
	return unix.Prlimit(t.Node, unix.RLIMIT_CORE, &lim, nil)
}

// deniedArgument is an argument with which the probe may not start this program.
const deniedArgument = "denied"

func deniedProgram() error {
	pid, err := syscall.ForkExec(self, []string{self, helperWord, deniedArgument}, &syscall.ProcAttr{Dir: "/"})
	if err == nil {
		syscall.Wait4(pid, nil, 0, nil)
	}
	return err
}

func sharedMemory() error {
	id, _, errno := unix.Syscall(unix.SYS_SHMGET, unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if errno == 0 {
		unix.Syscall(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0)
	}
	return orNil(errno)
}

func orNil(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

func status(field string) string {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func capabilities() error {
	if strings.Trim(status("CapEff")+status("CapPrm"), "0") == "" {
		return errNone
	}
	return nil
}

func newPrivileges() error {
	if status("NoNewPrivs") == "1" {
		return errNone
	}
	return nil
}

func forks() error {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &lim) != nil || lim.Cur > 1<<20 || os.Getuid() == 0 {
		return nil
	}
	return errNone
}
