package shell

import (
	"log/slog"
	"os"
	"time"

	"fairlead/node/pty"
	"fairlead/node/sandbox"
)

// launcher starts commands. It is safe for concurrent use.
type launcher struct {
	confinement *confinement
	log         *slog.Logger
	profiles    profiles
	// profileLimit is how long a login profile may take.
	profileLimit time.Duration
	closing      chan struct{} // closed when no command may start any more
}

func newLauncher(c *confinement, log *slog.Logger) *launcher {
	return &launcher{confinement: c, log: log, profileLimit: profileLimit, closing: make(chan struct{})}
}

// spec returns what is common to all ways to start a command.
func (l *launcher) spec(o startRequest, s streams) sandbox.Spec {
	spec := sandbox.Spec{
		Profile: l.confinement.profileOf(o), Dir: o.dir,
		// One pipe for both preserves their order.
		Stdin: s.childIn, Stdout: s.childOut, Stderr: s.childOut, PTY: o.tty,
	}
	if s.terminal != nil {
		spec.Console = s.terminal.Console()
	}
	env := l.confinement.environ(o.dir)
	if o.account != nil {
		env, spec.User = o.account.environ(env), &o.account.User
	}
	spec.Env = o.environ(env)
	return spec
}

type streams struct {
	childIn, childOut *os.File // childIn is nil if there is no input
	in, out           *os.File // our ends; in is nil when the input cannot be written
	terminal          *pty.PTY // nil if it does not have any
}

func openStreams(stdin, tty bool) (s streams, err error) {
	if tty {
		return terminalStreams(stdin)
	}
	// With files, no copying goroutine is needed, which a grandchild could block.
	if s.out, s.childOut, err = os.Pipe(); err != nil {
		return s, err
	}
	if stdin {
		if s.childIn, s.in, err = os.Pipe(); err != nil {
			s.closeChildEnds()
			s.close()
		}
	}
	return s, err
}

// terminalStreams opens a terminal; without stdin its input ends immediately.
func terminalStreams(stdin bool) (streams, error) {
	p, err := pty.Open(defaultCols, defaultRows)
	if err != nil {
		return streams{}, err
	}
	if !stdin {
		p.EndInput()
	}
	return streams{childIn: p.Child, childOut: p.Child, in: p.In, out: p.Out, terminal: p}, nil
}

func (s *streams) closeChildEnds() {
	if s.childIn != nil && s.childIn != s.childOut {
		s.childIn.Close()
	}
	if s.childOut != nil {
		s.childOut.Close()
	}
}

func (s *streams) close() {
	if s.terminal != nil {
		s.terminal.Close()
		return
	}
	if s.in != nil && s.in != s.out {
		s.in.Close()
	}
	s.out.Close()
}

// Default size of a terminal.
const (
	defaultCols  = 120
	defaultRows  = 40
	maxDimension = 10_000
)
