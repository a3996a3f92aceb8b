package sandbox

import "sync"

// Exit is how a command itself ended.
type Exit struct {
	// Code is the exit code, -1 when a signal ended the command.
	Code int
	// Signal is the signal's name, as "SIGKILL"; empty when the command exited.
	Signal string
}

// Process is a started command with all processes that come from it. When the command itself has
// ended, the others are ended too: they get [SettleTime] to end by themselves, then SIGTERM, and
// after [TermGrace] SIGKILL. Its methods may be called from any goroutine.
type Process struct {
	pid          int
	exited, done chan struct{}
	exit         Exit  // readable once exited is closed
	err          error // likewise
	ended        int   // readable once done is closed
	signal       func(kill bool)
	list         func() []int
	once         sync.Once
}

func newProcess() *Process {
	return &Process{exited: make(chan struct{}), done: make(chan struct{})}
}

// PID is the number of the command's process, and of its group and session.
func (p *Process) PID() int { return p.pid }

// Exited is closed when the command itself has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Done is closed when the command and all that came from it have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended is how many processes were ended by signals of the sandbox, without the command's own. It
// is known once Done is closed, and 0 before.
func (p *Process) Ended() int {
	select {
	case <-p.done:
		return p.ended
	default:
		return 0
	}
}

// Processes lists the running processes of the command, its own among them.
func (p *Process) Processes() []int { return p.list() }

// Wait waits for the end of the command itself. It may be called any number of times. An error means that its end could not be watched.
func (p *Process) Wait() (Exit, error) {
	<-p.exited
	return p.exit, p.err
}

// Terminate asks the whole tree to end (SIGTERM; on Windows it is Kill). It does not wait.
func (p *Process) Terminate() { p.signal(false) }

// Kill ends the whole tree, with what left its group or session where the machine can find that (check "orphans"). It does not wait; see Done.
func (p *Process) Kill() { p.signal(true) }

func (p *Process) exitedWith(e Exit, err error) {
	p.once.Do(func() {
		p.exit, p.err = e, err
		close(p.exited)
	})
}

func (p *Process) gone(ended int) {
	p.ended = ended
	close(p.done)
}
