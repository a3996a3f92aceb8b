package confine

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
)

// startWatched starts a command whose execs, also the first one, wait until answer has answered them.
// answer returns after the last exec: the end of the watched thread cannot be relied on, because the
// runtime keeps its first thread.
//
// The fork keeps one of the runtime's processors until the first answer. A garbage collection would
// wait for that processor, and the answer for the collection: nothing is collected meanwhile.
func startWatched(t *testing.T, answer func(Watch), argv ...string) (pid int) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var w Watch
	var answering sync.WaitGroup
	err := <-crash.Result(func() error {
		runtime.LockOSThread() // the thread ends with its goroutine
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		var err error
		if w, err = WatchExecs(); err != nil {
			return err
		}
		ready := make(chan struct{})
		answering.Add(1)
		crash.Go(func() {
			defer answering.Done()
			close(ready)
			answer(w)
		})
		<-ready
		files := []uintptr{os.Stdin.Fd(), os.Stdout.Fd(), os.Stderr.Fd()}
		pid, err = syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: os.Environ(), Files: files})
		return err
	})
	if w.File == nil {
		t.Skipf("calls cannot be watched here: %v", err)
	}
	if err != nil {
		t.Fatalf("got %v, want that %s starts", err, argv[0])
	}
	t.Cleanup(func() {
		answering.Wait()
		w.Close()
	})
	return pid
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
	pid := startWatched(t, answerWithSignals, perl, "-e", `$SIG{WINCH} = sub { }; exec "/bin/true"; exit 9`)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 0 {
		t.Errorf("got exit %d, %v, want 0", status.ExitStatus(), err)
	}
}

// answerWithSignals lets two execs continue. The second process gets a signal while it waits.
func answerWithSignals(w Watch) {
	for i := range 2 {
		e, ok := w.Next()
		if !ok {
			return
		}
		if i == 1 {
			unix.Kill(e.Thread, unix.SIGWINCH)
			for end := time.Now().Add(50 * time.Millisecond); w.IsWaiting(e) && time.Now().Before(end); {
				runtime.Gosched()
			}
		}
		w.Answer(e, true)
	}
}
