package shell

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

const (
	// killAfter is the time between SIGTERM and SIGKILL, as in the original system.
	killAfter = 250 * time.Millisecond
	// drainLimit is how long to wait for output from processes that could not be ended and still
	// have the output open.
	drainLimit = 500 * time.Millisecond
	// reapLimit is how long a killed process may take to disappear; only one that is stuck in the
	// kernel exceeds it.
	reapLimit = 5 * time.Second
	// flood is the number of bytes that a command prints before its pipe is enlarged.
	flood = 1 << 20
)

// why is the reason for which a job was stopped.
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
	call             protocol.CallID // the call that started it; may be empty
	enforced         string          // how it was contained, in one line; empty without a box
	pid              int
	started          time.Time
	child            *sandbox.Process
	out              output
	// stdin is nil for synchronous commands; it is our end of the terminal, if there is one.
	stdin      *os.File
	tty        bool
	terminal   terminal    // of a command with a terminal
	mayStay    bool        // it runs or may continue in the background
	background atomic.Bool // it runs in the background
	stop       chan why    // holds the first request to stop
	done       chan struct{}
	result     ending
}

// ending describes how a command ended.
type ending struct {
	code   *int
	signal string
	why    why
	at     time.Time
	// open reports that a process could not be ended and still has the output open.
	open bool
	// ended is the number of other processes that were ended with the command; stuck reports that
	// some could not be ended.
	ended int
	stuck bool
	// lost is the reason why the command's end is unknown.
	lost error
}

// note describes in one sentence the end of the command's processes, and whether its own end is
// known; empty when there is nothing to report.
func (e ending) note() string {
	var all []string
	switch {
	case e.stuck:
		all = append(all, "Some processes of the command could not be ended.")
	case e.ended == 1 && e.why == notStopped:
		all = append(all, "1 process that the command left running was ended.")
	case e.ended > 1 && e.why == notStopped:
		all = append(all, fmt.Sprintf("%d processes that the command left running were ended.", e.ended))
	case e.ended == 1:
		all = append(all, "The command was ended together with 1 process that it had started.")
	case e.ended > 1:
		all = append(all, fmt.Sprintf("The command was ended together with %d processes that it had started.", e.ended))
	}
	if e.lost != nil {
		all = append(all, "It is not known how the command ended: "+e.lost.Error())
	}
	return strings.Join(all, " ")
}

func (e ending) ok() bool { return e.why == notStopped && e.code != nil && *e.code == 0 }

// order is a command to start.
type order struct {
	command, dir string
	timeout      time.Duration // 0: unlimited
	tty          bool
	call         protocol.CallID
	// folders that it may use in addition to those of the profile
	folders []protocol.FolderAccess
	network bool   // it may use the network, regardless of the profile
	direct  bool   // started by the person, not by the agent
	key     string // the call's idempotency key, if any
}

// environ completes the environment of the command: it adds variables for commands without a person
// at the terminal, git's configuration unless the command is the person's own, and the idempotency
// key, which the command can pass on to the systems that it changes.
func (o order) environ(env []string) []string {
	env = quiet(env, o.tty)
	if !o.direct {
		env = guardGit(env)
	}
	if o.key != "" {
		env = append(env, "FAIRLEAD_IDEMPOTENCY_KEY="+o.key)
	}
	return env
}

// startJob starts a command; one that may continue in the background accepts input. When it has
// ended, the job's goroutine calls finish, which closes done.
func (t *Jobs) startJob(o order, mayStay bool) (*job, error) {
	j := &job{
		id: protocol.NewID(), call: o.call, command: o.command, dir: o.dir, enforced: t.enforced(o), tty: o.tty, mayStay: mayStay,
		stop: make(chan why, 1), done: make(chan struct{}),
	}
	s, err := openStreams(mayStay, o.tty)
	if err != nil {
		return nil, toolkit.Failf("Failed to execute: %w", err)
	}
	j.started = time.Now()
	j.child, err = t.launch(o, s)
	s.closeChildEnds()
	if err != nil {
		s.close()
		return nil, toolkit.Failf("Failed to execute: %w", startError(err))
	}
	j.stdin, j.terminal, j.pid = s.in, s.terminal, j.child.PID()
	t.ledger.add(j)
	go j.run(s, o.timeout, t.finish)
	return j, nil
}

// quit asks the job to stop; only the first reason counts. It does not wait.
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

// endedAt returns when a command ended and how long it ran, in milliseconds. Their difference is
// exactly the time of the start.
func (j *job) endedAt() (at, ms int64) {
	ms = j.result.at.Sub(j.started).Milliseconds()
	return j.started.UnixMilli() + ms, ms
}

func (j *job) run(s streams, timeout time.Duration, finish func(*job)) {
	defer finish(j)
	defer s.close()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		readAll(s.out, &j.out)
	}()
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-j.child.Exited():
	case <-late:
		j.result.why = byTimeout
	case j.result.why = <-j.stop:
	}
	if w := j.result.why; w != notStopped {
		if w != byKill {
			j.child.Terminate()
			settled(killAfter, j.child.Done(), drained)
		}
		j.child.Kill()
		if !settled(reapLimit, j.child.Exited()) {
			j.result.signal, j.result.at, j.result.stuck = "SIGKILL", time.Now(), true
			j.result.open = drain(s.out, 0, drained, &j.out)
			return
		}
	}
	j.result.stuck = !settled(reapLimit, j.child.Done())
	j.result.ended = j.child.Ended()
	exit, err := j.child.Wait()
	switch {
	case err != nil:
		j.result.lost = err
	case exit.Signal != "":
		j.result.signal = exit.Signal
	default:
		j.result.code = &exit.Code
	}
	if s.terminal != nil {
		s.terminal.hangUp()
	}
	j.result.open = drain(s.out, drainLimit, drained, &j.out)
	j.result.at = time.Now()
	if !j.result.open {
		j.out.settle(keep) // a reader that did not finish would continue to write
	}
}

// readAll reads out until its end.
func readAll(out *os.File, o *output) {
	larger := false
	for {
		n, err := out.Read(o.space())
		o.took(n)
		if err != nil { // io.EOF; EIO from a terminal; a deadline when waiting was given up
			return
		}
		if !larger && o.total > flood {
			larger = true
			widen(out)
		}
	}
}

// settled waits at most d until all channels are closed.
func settled(d time.Duration, all ...<-chan struct{}) bool {
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

// drain waits at most d until the reader has ended, and reads the rest of the pipe. It reports
// whether a process can still write to it.
func drain(out *os.File, d time.Duration, reader <-chan struct{}, o *output) (open bool) {
	if err := out.SetReadDeadline(time.Now().Add(d)); err != nil {
		return !settled(d, reader) // such a reader stays until the last process closes the pipe
	}
	<-reader
	return takeRest(out, o)
}
