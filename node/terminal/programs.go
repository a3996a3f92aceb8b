package terminal

import (
	"bytes"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/node/shell"
)

const (
	// killAfter is the time that a program has to end after its terminal has gone.
	killAfter = 3 * time.Second
	// drainLimit is how long the output of a program is awaited after its end.
	drainLimit = 500 * time.Millisecond
	// readSize is the number of bytes of output that are shown at once.
	readSize = 32 << 10
)

// process is a program that a person runs.
type process struct{ *shell.TerminalProcess }

func (p *process) Write(input []byte) (int, error) { return p.PTY.In.Write(input) }
func (p *process) Resize(cols, rows int) error     { return p.PTY.Resize(cols, rows) }
func (p *process) SetTyping(bool)                  {}

func (p *process) Close() {
	p.HangUp()
	crash.AfterFunc(killAfter, p.Kill) // without effect once it has ended
}

// run shows the output of a program until it has ended.
func run(p *shell.TerminalProcess, d *display) {
	drained := make(chan struct{})
	crash.Go(func() {
		defer close(drained)
		buf := make([]byte, readSize)
		for {
			n, err := p.PTY.Out.Read(buf)
			if n > 0 {
				d.Output(buf[:n])
			}
			if err != nil {
				return // EIO once no process has the terminal any more
			}
		}
	})
	<-p.Exited()
	<-p.Done()
	p.PTY.HangUp()
	select {
	case <-drained:
	case <-time.After(drainLimit): // a process that left the group may still have it open
	}
	p.PTY.Close()
	d.end(endOf(p))
}

func endOf(p *shell.TerminalProcess) protocol.TerminalEnd {
	exit, err := p.Wait()
	switch {
	case err != nil:
		return protocol.TerminalEnd{Error: "how the program ended is unknown: " + err.Error()}
	case exit.Signal != "":
		return protocol.TerminalEnd{Error: "the program was ended by " + exit.Signal}
	}
	return protocol.TerminalEnd{ExitCode: &exit.Code}
}

// command is a command of the agent or of another program, which is not closed here.
type command struct{ shell.Shared }

func (command) Close() {}

// lines shows the output of a command. What a command without a terminal prints has line feeds
// alone, which a terminal shows as steps.
type lines struct {
	*display
	isRaw    bool
	replayed bool
}

// Output implements shell.Watcher: the first piece is what the command printed before.
func (l *lines) Output(p []byte) {
	if !l.isRaw {
		p = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	if !l.replayed {
		l.replayed = true
		l.replay(p)
		return
	}
	l.display.Output(p)
}
