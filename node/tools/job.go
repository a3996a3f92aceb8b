package tools

import (
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"fairlead/gateway/protocol"
)

const (
	// killAfter is how long a command may take to obey SIGTERM (seed 000, Security).
	killAfter = 250 * time.Millisecond
	// drainLimit is how long output is awaited from processes that outlive the shell and keep its output open.
	drainLimit = 500 * time.Millisecond
	// reapLimit is how long a killed process may take to go, which only one stuck in the kernel exceeds.
	reapLimit = 5 * time.Second
)

// why a job was stopped.
type why int

const (
	notStopped why = iota
	byTimeout
	byCancel
	byKill
)

// job is one command. Its goroutine owns the process; result may be read once done is closed.
type job struct {
	id, command, dir string
	pid              int
	started          time.Time
	out              output
	stdin            *os.File // nil for synchronous commands
	background       atomic.Bool
	stop             chan why // holds the first wish to stop
	done             chan struct{}
	result           ending
}

// ending is how a command ended.
type ending struct {
	code   *int
	signal string
	why    why
	at     time.Time
	// open says that a process outlived the shell and kept the output open.
	open bool
}

func (e ending) ok() bool { return e.why == notStopped && e.code != nil && *e.code == 0 }

// startJob starts a command; timeout 0 is none. When it has ended, the job's goroutine calls finish, which closes done.
func startJob(command, dir string, timeout time.Duration, stdin bool, finish func(*job)) (*job, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := shellCommand(shell(), command)
	cmd.Dir, cmd.Env = dir, environ(dir)
	// One pipe for both keeps them in order; being files they need no copying goroutine that a grandchild could hold up.
	cmd.Stdout, cmd.Stderr = in, in
	j := &job{id: protocol.NewID(), command: command, dir: dir, stop: make(chan why, 1), done: make(chan struct{})}
	if stdin {
		var childEnd *os.File
		if childEnd, j.stdin, err = os.Pipe(); err != nil {
			out.Close()
			return nil, err
		}
		defer childEnd.Close()
		cmd.Stdin = childEnd
	}
	j.started = time.Now()
	if err := cmd.Start(); err != nil {
		out.Close()
		if j.stdin != nil {
			j.stdin.Close()
		}
		return nil, failf("Failed to execute: %w", startError(err))
	}
	j.pid = cmd.Process.Pid
	go j.run(cmd, out, timeout, finish)
	return j, nil
}

// quit wishes the job to stop; the first wish counts. It does not wait.
func (j *job) quit(w why) {
	select {
	case j.stop <- w:
	default:
	}
}

func (j *job) running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

func (j *job) run(cmd *exec.Cmd, out *os.File, timeout time.Duration, finish func(*job)) {
	defer finish(j)
	defer out.Close()
	if j.stdin != nil {
		defer j.stdin.Close()
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.CopyBuffer(struct{ io.Writer }{&j.out}, struct{ io.Reader }{out}, make([]byte, 64<<10))
	}()
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		awaitExit(cmd)
	}()
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-exited:
	case <-late:
		j.result.why = byTimeout
	case j.result.why = <-j.stop:
	}
	if w := j.result.why; w != notStopped {
		if w != byKill {
			terminate(cmd)
			settled(killAfter, exited, drained)
		}
		kill(cmd)
		if !settled(reapLimit, exited) {
			j.result.signal, j.result.at = "SIGKILL", time.Now()
			j.result.open = drain(out, 0, drained, &j.out)
			return
		}
	}
	reap(cmd)
	j.result.open = drain(out, drainLimit, drained, &j.out)
	j.result.code, j.result.signal = ended(cmd.ProcessState)
	j.result.at = time.Now()
}

// settled waits until all channels are closed, at most d.
func settled(d time.Duration, all ...chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for _, c := range all {
		select {
		case <-c:
		case <-timer.C:
			return false
		}
	}
	return true
}

// drain waits until the reader has ended, at most d, and takes what is left in the pipe. It reports whether someone can still write to it.
func drain(out *os.File, d time.Duration, reader chan struct{}, w io.Writer) (open bool) {
	if err := out.SetReadDeadline(time.Now().Add(d)); err != nil {
		return !settled(d, reader) // such a reader stays until the last process lets go of the pipe
	}
	<-reader
	return takeRest(out, w)
}
