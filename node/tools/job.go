package tools

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

const (
	// killAfter is the time between SIGTERM and SIGKILL, as in the original system.
	killAfter = 250 * time.Millisecond
	// drainLimit is how long output is awaited from processes that could not be ended and keep the
	// output open.
	drainLimit = 500 * time.Millisecond
	// reapLimit is how long a killed process may take to go, which only one stuck in the kernel exceeds.
	reapLimit = 5 * time.Second
	// flood is how much a command prints before its pipe is made larger.
	flood = 1 << 20
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
	call             protocol.CallID // that started it; empty when it came with none
	enforced         string          // what held it, in one line; empty without a box
	pid              int
	started          time.Time
	child            *sandbox.Process
	out              output
	stdin            *os.File // nil for synchronous commands; the terminal's own end with one
	tty              bool
	terminal         terminal    // of a tty
	mayStay          bool        // it is or may become a background command
	background       atomic.Bool // it is one
	stop             chan why    // holds the first wish to stop
	done             chan struct{}
	result           ending
}

// ending is how a command ended.
type ending struct {
	code   *int
	signal string
	why    why
	at     time.Time
	// open says that a process could not be ended and keeps the output open.
	open bool
	// ended is how many processes were ended with the command, without its own; stuck says that
	// some could not be.
	ended int
	stuck bool
	// lost says why it is not known how the command ended.
	lost error
}

// note says in one sentence what became of the processes of the command, and whether its own end is
// known; empty when there is nothing to say.
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
	timeout      time.Duration // 0: none
	tty          bool
	call         protocol.CallID
	folders      []protocol.FolderAccess // that it may use besides those of the profile
	network      bool                    // it may use the network, whatever the profile says
	direct       bool                    // it is the person's own act
	key          string                  // the call's idempotency key, when it has one
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

// startJob starts a command; one that may stay can be written to. When it has ended, the job's goroutine calls finish, which closes done.
func (t *Jobs) startJob(o order, mayStay bool) (*job, error) {
	j := &job{
		id: protocol.NewID(), call: o.call, command: o.command, dir: o.dir, enforced: t.enforced(o), tty: o.tty, mayStay: mayStay,
		stop: make(chan why, 1), done: make(chan struct{}),
	}
	s, err := openStreams(mayStay, o.tty)
	if err != nil {
		return nil, failf("Failed to execute: %w", err)
	}
	j.started = time.Now()
	j.child, err = t.launch(o, s)
	s.closeChildEnds()
	if err != nil {
		s.close()
		return nil, failf("Failed to execute: %w", startError(err))
	}
	j.stdin, j.terminal, j.pid = s.in, s.terminal, j.child.PID()
	t.ledger.add(j)
	go j.run(s, o.timeout, t.finish)
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

// endedAt is when a command ended and how long it ran, in milliseconds: the second is the first less when it started.
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
		j.out.settle(keep) // a reader that gave up would go on writing
	}
}

// readAll takes what out gives until its end.
func readAll(out *os.File, o *output) {
	larger := false
	for {
		n, err := out.Read(o.space())
		o.took(n)
		if err != nil { // io.EOF; of a terminal EIO; of one that gave up waiting a deadline
			return
		}
		if !larger && o.total > flood {
			larger = true
			widen(out)
		}
	}
}

// settled waits until all channels are closed, at most d.
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

// drain waits until the reader has ended, at most d, and takes what is left in the pipe. It reports whether someone can still write to it.
func drain(out *os.File, d time.Duration, reader <-chan struct{}, o *output) (open bool) {
	if err := out.SetReadDeadline(time.Now().Add(d)); err != nil {
		return !settled(d, reader) // such a reader stays until the last process lets go of the pipe
	}
	<-reader
	return takeRest(out, o)
}
