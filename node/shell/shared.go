package shell

import (
	"io"
	"sync/atomic"

	"fairlead/gateway/protocol"
)

// Shared is a running command of the agent, or of a program, that a person can watch. If it runs in
// a terminal, the person can also type.
type Shared struct{ job *job }

// Shared lists the commands that a person can watch: those in the background, and those that programs
// continue.
func (t *Jobs) Shared() (list []Shared) {
	for _, j := range t.list(nil) {
		if j.isRunning() {
			list = append(list, Shared{j})
		}
	}
	return list
}

// Info describes the command as a terminal.
func (s Shared) Info() protocol.Terminal {
	info := protocol.Terminal{
		ID: protocol.TerminalID(s.job.id), Command: s.job.command, Workdir: s.job.dir, StartedAt: s.job.started.UnixMilli(),
		CommandID: s.job.id, CallID: s.job.call, WatchOnly: !s.job.tty || s.job.stdin == nil,
	}
	s.job.out.mu.Lock()
	defer s.job.out.mu.Unlock()
	info.Cols, info.Rows = s.job.cols, s.job.rows
	return info
}

// IsTerminal reports whether the command runs in a terminal.
func (s Shared) IsTerminal() bool { return s.job.tty }

// Watcher gets what the terminal of a command shows. Its methods must not block for long.
type Watcher interface {
	// Output gets the next piece of the output, which it must not retain.
	Output(p []byte)
	// Resized gets the new size in cells.
	Resized(cols, rows int)
}

// Watch passes the retained output to a watcher, and what follows until the command ends. It is called
// once for each command.
func (s Shared) Watch(w Watcher) {
	o := &s.job.out
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watcher = w
	w.Output(o.buf)
}

// Done is closed when the command has ended and its output is complete.
func (s Shared) Done() <-chan struct{} { return s.job.done }

// End says how the command ended; call it after Done is closed.
func (s Shared) End() protocol.TerminalEnd {
	if s.job.result.code != nil {
		return protocol.TerminalEnd{ExitCode: s.job.result.code}
	}
	return protocol.TerminalEnd{Error: "the command was ended"}
}

// Write types into the command's terminal.
func (s Shared) Write(p []byte) (int, error) {
	if s.job.stdin == nil || !s.job.isRunning() {
		return 0, io.ErrClosedPipe
	}
	s.job.person.touched.Store(true)
	return s.job.write(string(p))
}

// Resize sets the size of the command's terminal.
func (s Shared) Resize(cols, rows int) error {
	if s.job.terminal == nil {
		return nil
	}
	return s.job.resize(cols, rows)
}

// resize sets the size of a command's terminal.
func (j *job) resize(cols, rows int) error {
	if err := j.terminal.Resize(cols, rows); err != nil {
		return err
	}
	j.out.mu.Lock()
	defer j.out.mu.Unlock()
	j.cols, j.rows = cols, rows
	if j.out.watcher != nil {
		j.out.watcher.Resized(cols, rows)
	}
	return nil
}

// SetTyping says whether a person types. The agent learns that with its next reads, and cannot type
// meanwhile.
func (s Shared) SetTyping(yes bool) { s.job.person.types.Store(yes) }

const personTypes = "A person has taken over this command's terminal and types there. You can read its output; wait with input until they give it back."

// person is what a person does with the terminal of a command.
type person struct {
	types   atomic.Bool // now
	touched atomic.Bool // typed something since the last read of the command
}

// note is for the next read of the command; empty if no person typed.
func (p *person) note() string {
	touched := p.touched.Swap(false)
	switch {
	case p.types.Load():
		return personTypes
	case touched:
		return "A person typed in this command's terminal since your last read."
	}
	return ""
}
