package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox"
)

// attempts are system calls on a process by its number, 0 being the caller.
var attempts = map[string]func(pid int) error{
	"kill":   func(pid int) error { return unix.Kill(pid, 0) },
	"tgkill": func(pid int) error { return unix.Tgkill(pid, pid, 0) },
	"sigqueueinfo": func(pid int) error {
		return raw(unix.SYS_RT_SIGQUEUEINFO, pid, 0, address(&[128]byte{8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff}))
	},
	"pidfd_send_signal": func(pid int) error {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, 0, nil, 0)
	},
	"ptrace":            unix.PtraceAttach,
	"process_vm_readv":  func(pid int) error { return raw(unix.SYS_PROCESS_VM_READV, pid) },
	"process_vm_writev": func(pid int) error { return raw(unix.SYS_PROCESS_VM_WRITEV, pid) },
	"process_madvise":   func(pid int) error { return raw(unix.SYS_PROCESS_MADVISE, -1) },
	"pidfd_getfd":       func(pid int) error { return raw(unix.SYS_PIDFD_GETFD, -1) },
	"kcmp":              func(pid int) error { return raw(unix.SYS_KCMP, pid, pid, 1) },
	"perf_event_open": func(pid int) error {
		_, err := unix.PerfEventOpen(&unix.PerfEventAttr{Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}, pid, -1, -1, 0)
		return err
	},
	"keyctl":      func(int) error { return raw(unix.SYS_KEYCTL, 0, -3) },
	"setpriority": func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 19) },
	"setpriority of a user": func(int) error {
		return unix.Setpriority(unix.PRIO_USER, 0, 0)
	},
	"ioprio_set":           func(pid int) error { return raw(unix.SYS_IOPRIO_SET, 1, pid, 0) },
	"ioprio_set of a user": func(int) error { return raw(unix.SYS_IOPRIO_SET, 3, 0, 0) },
	"sched_setaffinity": func(pid int) error {
		var set unix.CPUSet
		unix.SchedGetaffinity(0, &set)
		return unix.SchedSetaffinity(pid, &set)
	},
	"sched_setscheduler": func(pid int) error { return raw(unix.SYS_SCHED_SETSCHEDULER, pid, 0, address(&[128]byte{})) },
	"sched_setparam":     func(pid int) error { return raw(unix.SYS_SCHED_SETPARAM, pid, address(&[128]byte{})) },
	"sched_setattr": func(pid int) error {
		return unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Nice: 19}, 0)
	},
	"prlimit64":  func(pid int) error { return unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) },
	"move_pages": func(pid int) error { return raw(unix.SYS_MOVE_PAGES, pid, 0, 0) },
	"shmget":     func(int) error { return raw(unix.SYS_SHMGET, 0, 4096, unix.IPC_CREAT|0o600) },
	"shmat":      func(int) error { return raw(unix.SYS_SHMAT, 0) },
	"semget":     func(int) error { return raw(unix.SYS_SEMGET, 0, 1, unix.IPC_CREAT|0o600) },
	"msgget":     func(int) error { return raw(unix.SYS_MSGGET, 0, unix.IPC_CREAT|0o600) },
	"mq_open": func(int) error {
		return raw(unix.SYS_MQ_OPEN, address(&[128]byte{'x'}), unix.O_RDWR|unix.O_CREAT, 0o600)
	},
}

// buffer stays at its address while the kernel reads it.
var buffer [128]byte

func address(data *[128]byte) int {
	buffer = *data
	return int(uintptr(unsafe.Pointer(&buffer)))
}

func raw(nr uintptr, args ...int) error {
	var a [6]uintptr
	for i, v := range args {
		a[i] = uintptr(v)
	}
	if _, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

func init() {
	// reach makes all attempts on the process in TARGET and prints their error numbers.
	plays["reach"] = func() int {
		pid, _ := strconv.Atoi(os.Getenv("TARGET"))
		result := map[string]syscall.Errno{}
		for name, f := range attempts {
			result[name], _ = f(pid).(syscall.Errno)
		}
		if json.NewEncoder(os.Stdout).Encode(result) != nil {
			return 1
		}
		return 0
	}
}

// reach returns the results of all attempts by a contained command on a process.
func (k *kit) reach(pid int, network sandbox.Network) (result map[string]syscall.Errno) {
	k.Helper()
	exe, err := os.Executable()
	if err != nil {
		k.Fatal(err)
	}
	s := k.spec("")
	s.Argv, s.Env = []string{exe}, append(s.Env, "SANDBOX_PLAY=reach", fmt.Sprint("TARGET=", pid), "GORACE=atexit_sleep_ms=0")
	s.Profile.Network, s.Profile.Read = network, []string{exe}
	out, e := k.run(s)
	if err := json.Unmarshal([]byte(out), &result); err != nil || e.Code != 0 {
		k.Fatalf("got %q, exit %+v, error %v; want no error and Code 0", out, e, err)
	}
	return result
}

func TestNoCallReachesAnotherProcess(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		cmd := exec.Command("sleep", "999")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		signals := k.box.Report().Check(sandbox.CheckSignal).Enforced
		for _, network := range []sandbox.Network{sandbox.NetBlocked, sandbox.NetAllowed} {
			for name, got := range k.reach(cmd.Process.Pid, network) {
				var want syscall.Errno
				switch {
				case strings.HasSuffix(name, "get") || name == "shmat" || name == "mq_open":
					want = unix.ENOSYS
				case strings.Contains(name, "sig") || strings.Contains(name, "kill"):
					want = unix.EPERM
					if !signals {
						continue
					}
				default:
					want = unix.EPERM
				}
				if got != want {
					t.Errorf("network %s: %s: got %v, want %v", network, name, got, want)
				}
			}
		}
	})
}

func TestACommandMayScheduleItself(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		result := k.reach(0, sandbox.NetBlocked)
		for _, name := range []string{
			"setpriority", "ioprio_set", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "prlimit64",
		} {
			if got := result[name]; got != 0 {
				t.Errorf("%s on itself: got %v, want success", name, got)
			}
		}
	})
}

func TestOrdinaryProgramsRunContained(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for name, text := range map[string]string{
			"Makefile": "all:\n\techo made\n",
			"Main.java": `class Main { public static void main(String[] a) throws Exception {
				Thread t = new Thread(() -> System.out.println(1)); t.setPriority(1); t.start(); t.join(); } }`,
		} {
			if err := os.WriteFile(filepath.Join(k.ws, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for program, script := range map[string]string{
			"nice": "nice -n 5 true", "ionice": "ionice -c 3 true", "taskset": "taskset -c 0 true", "chrt": "chrt -o 0 true", "prlimit": "prlimit --core=0 true",
			"make": "make -j2", "git": "git init -q r && cd r && git -c user.name=a -c user.email=b commit -qm x --allow-empty && git gc -q && git status",
			"python3": `/usr/bin/python3 -c "import multiprocessing as m
p=m.Process(target=print,args=('child',)); p.start(); p.join(); exit(p.exitcode)"`,
			"node": `node -e "const{Worker}=require('worker_threads');new Worker('0',{eval:true}).on('exit',c=>process.exit(c))"`,
			"java": "java -Xmx64m Main.java", "go": "go version",
		} {
			t.Run(program, func(t *testing.T) {
				need(t, program)
				k := *k
				k.T = t
				if out, e := k.run(k.spec(script)); e.Code != 0 {
					t.Errorf("%s: got exit %+v and %q, want success", script, e, out)
				}
			})
		}
	})
}
