package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/node/sandbox/confine"
)

// Exit says how a command itself ended.
type Exit struct {
	// Code is the exit code, -1 when a signal ended the command.
	Code int
	// Signal is the signal's name, as "SIGKILL"; empty when the command exited.
	Signal string
}

// Process is a started command with all its processes. When the command itself has ended, the
// others are ended too: they have [SettleTime] to end by themselves, then get SIGTERM, and after
// [TermGrace] SIGKILL. Its methods may be called from any goroutine.
type Process struct {
	pid          int
	exited, done chan struct{}
	exit         Exit // readable once exited is closed, as is err
	err          error
	killed       int // readable once done is closed
	terminate    func()
	kill         func()
	list         func() []int
	refused      []string              // readable once exited is closed
	restrictions *confine.Restrictions // nil if it is not contained
	// tempChecked is closed when the temporary files of an ended command have been looked at; nil
	// where nobody does that. Then tempStopped and tempCleared can be read.
	tempChecked chan struct{}
	tempStopped bool
	tempCleared uint64 // in bytes
	once        sync.Once
}

func newProcess() *Process {
	return &Process{exited: make(chan struct{}), done: make(chan struct{})}
}

// PID returns the number of the command's process, which is also that of its group and session.
func (p *Process) PID() int { return p.pid }

// Exited returns a channel that is closed when the command itself has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Done returns a channel that is closed when the command and all its processes have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// KilledCount returns how many processes were ended by signals of the sandbox, without the
// command's own. It is 0 until Done is closed.
func (p *Process) KilledCount() int {
	select {
	case <-p.done:
		return p.killed
	default:
		return 0
	}
}

// Processes lists the running processes of the command, including its own.
func (p *Process) Processes() []int { return p.list() }

// Protected returns the paths that the command cannot change although they are in folders that it
// can; nil where the machine does not enforce that.
func (p *Process) Protected() []string {
	if p.restrictions == nil {
		return nil
	}
	return p.restrictions.ReadOnly
}

// Denied returns the paths that the command cannot change, and those that it cannot even read, because
// a rule denies that; nil where the machine does not enforce it.
func (p *Process) Denied() (readOnly, hidden []string) {
	if p.restrictions == nil {
		return nil, nil
	}
	return p.restrictions.Denied, p.restrictions.Hidden
}

// RefusedPrograms returns programs that the command tried to start and that a rule denies. It is nil
// until Exited is closed.
func (p *Process) RefusedPrograms() []string {
	select {
	case <-p.exited:
		return p.refused
	default:
		return nil
	}
}

// TempNote says in sentences that the command's temporary files filled the disk and were removed; empty
// if they did not. It waits until the command and all its processes have ended.
func (p *Process) TempNote() string {
	if p.tempChecked == nil {
		return ""
	}
	<-p.tempChecked
	what := "The command filled the disk with temporary files"
	switch {
	case p.tempStopped:
		what = "The command was stopped because temporary files filled the disk"
	case p.tempCleared == 0:
		return ""
	}
	return fmt.Sprintf("%s: %d MB that were written to $TMPDIR since its start were removed. Delete what is no longer needed there before you try again.", what, p.tempCleared>>20)
}

// Wait waits for the end of the command itself. It may be called any number of times. An error
// means that the end could not be observed.
func (p *Process) Wait() (Exit, error) {
	<-p.exited
	return p.exit, p.err
}

// Terminate sends SIGTERM to all processes of the command (on Windows it is Kill). It does not
// wait.
func (p *Process) Terminate() { p.terminate() }

// Kill ends all processes of the command, including those that left its group or session if the
// machine can find them (check "orphans"). It does not wait; see Done.
func (p *Process) Kill() { p.kill() }

func (p *Process) setExit(e Exit, err error) {
	p.once.Do(func() {
		p.exit, p.err = e, err
		close(p.exited)
	})
}

func (p *Process) finish(ended int) {
	p.killed = ended
	close(p.done)
}

// maxPause is the interval at which the processes of a command are checked where the system does
// not report their ends.
const maxPause = 20 * time.Millisecond

// Direct starts a command without containment and without a helper: its processes are found as far
// as the system permits.
func Direct(s Spec) (*Process, error) {
	s.Profile = Profile{Mode: Full}.WithDefaults()
	if err := checkSpec(s); err != nil {
		return nil, err
	}
	return direct(s.Argv, s)
}

func direct(argv []string, s Spec) (*Process, error) {
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Dir: s.Dir, Env: s.Env}
	// Assigning a nil *os.File would make the interface non-nil.
	if s.Stdin != nil {
		cmd.Stdin = s.Stdin
	}
	if s.Stdout != nil {
		cmd.Stdout = s.Stdout
	}
	if s.Stderr != nil {
		cmd.Stderr = s.Stderr
	}
	if s.Control != nil {
		cmd.ExtraFiles = []*os.File{s.Control}
	}
	g, err := startGroup(cmd, s)
	if err != nil {
		return nil, err
	}
	p := newProcess()
	p.pid, p.terminate, p.kill, p.list = cmd.Process.Pid, g.terminate, g.killTree, g.processes
	crash.Go(func() {
		defer func() {
			g.close()
			p.finish(g.killedCount())
		}()
		var e Exit
		err := crash.Call("command", func() (err error) {
			e, err = g.wait()
			return err
		})
		p.setExit(e, err)
		if !g.waitEmpty(SettleTime) {
			g.terminate()
			if !g.waitEmpty(TermGrace) {
				g.killTree()
			}
		}
	})
	return p, nil
}

func (g *group) waitEmpty(d time.Duration) bool {
	pause := time.Millisecond
	for end := time.Now().Add(d); g.hasProcesses(); pause = min(2*pause, maxPause) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
