package confine

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
)

// startWatched starts a command whose execs wait for an answer, also the first one.
func startWatched(t *testing.T, argv ...string) (w Watch, pid <-chan int) {
	t.Helper()
	watched, started := make(chan Watch, 1), make(chan int, 1)
	failed := crash.Result(func() error {
		runtime.LockOSThread() // the thread ends with its goroutine
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		w, err := WatchExecs()
		if err != nil {
			return err
		}
		watched <- w
		files := []uintptr{os.Stdin.Fd(), os.Stdout.Fd(), os.Stderr.Fd()}
		n, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: os.Environ(), Files: files})
		started <- n
		return err
	})
	select {
	case err := <-failed:
		t.Skipf("calls cannot be watched here: %v", err)
	case w = <-watched:
		t.Cleanup(func() { w.Close() })
	}
	return w, started
}

// The handler of the signal does not restart calls, and after the exec the signal is ignored.
func TestASignalDoesNotInterruptAnExecThatIsJudged(t *testing.T) {
	if install(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|waitKillable, nil) != unix.EFAULT {
		t.Skip("this kernel interrupts calls that wait for an answer")
	}
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip(err)
	}
	w, started := startWatched(t, perl, "-e", `$SIG{WINCH} = sub { }; exec "/bin/true"; exit 9`)
	crash.Go(func() { // ends with the test at the latest
		for isFirst := true; ; isFirst = false {
			e, ok := w.Next()
			if !ok {
				return
			}
			if !isFirst {
				unix.Kill(e.Thread, unix.SIGWINCH)
				for end := time.Now().Add(50 * time.Millisecond); w.IsWaiting(e) && time.Now().Before(end); {
					runtime.Gosched()
				}
			}
			w.Answer(e, true)
		}
	})
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(<-started, &status, 0, nil); err != nil || status.ExitStatus() != 0 {
		t.Errorf("got exit %d, %v, want 0", status.ExitStatus(), err)
	}
}
