package shell

import (
	"os"
	"slices"
	"strings"
	"time"

	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// launcher starts commands. It is safe for concurrent use.
type launcher struct {
	opts     JobOptions
	profiles profiles
	// profileLimit is how long a login profile may take.
	profileLimit time.Duration
	closing      chan struct{} // closed when no command may start any more
}

func newLauncher(o JobOptions) *launcher {
	return &launcher{opts: o, profileLimit: profileLimit, closing: make(chan struct{})}
}

func (l *launcher) profileOf(o startRequest) sandbox.Profile {
	profile := l.opts.Profile
	if o.network {
		profile.Network = sandbox.NetAllowed
	}
	if r := o.rules; r != nil {
		profile.Hidden, profile.ReadOnly = r.Hidden, r.ReadOnly
		for _, argv := range r.Programs {
			profile.Programs = append(profile.Programs, argv)
		}
	}
	profile.Unprotected, profile.Unpinned = o.direct, movesInFolders(o.command, o.dir)
	for _, path := range slices.Concat(o.lifts, o.records) {
		profile.Lifted = append(profile.Lifted, workspace.Unspell(path))
	}
	for _, f := range o.folders {
		f.Path = workspace.Unspell(f.Path)
		if f.Write {
			profile.Write = append(slices.Clone(profile.Write), f.Path)
		} else {
			profile.Read = append(slices.Clone(profile.Read), f.Path)
		}
	}
	return profile
}

// enforcement describes in one line how a command is contained; empty without a box.
func (l *launcher) enforcement(o startRequest) string {
	if l.opts.Box == nil {
		return ""
	}
	return Enforced(l.opts.Box.Report(), l.profileOf(o))
}

// spec returns what is common to all ways to start a command.
func (l *launcher) spec(o startRequest, s streams) sandbox.Spec {
	spec := sandbox.Spec{
		Profile: l.profileOf(o), Dir: o.dir,
		// One pipe for both preserves their order.
		Stdin: s.childIn, Stdout: s.childOut, Stderr: s.childOut, PTY: o.tty,
	}
	if s.terminal != nil {
		spec.Console = s.terminal.console()
	}
	env := environ(o.dir)
	switch {
	case o.account != nil:
		env, spec.User = o.account.environ(env), &o.account.User
	case l.opts.Box != nil && l.opts.Profile.Mode != sandbox.Full:
		env = sandbox.Environ(o.dir, l.opts.Env)
	}
	spec.Env = o.environ(env)
	return spec
}

// run starts a program: in the box if there is one, else as a plain child of this process.
func (l *launcher) run(spec sandbox.Spec) (*sandbox.Process, error) {
	if l.opts.Box == nil {
		return sandbox.Direct(spec)
	}
	return l.opts.Box.Start(spec)
}

const (
	notEnforced = "not enforced on this machine"
	fullAccess  = "full access, as set for this machine, including keys and tokens of Fairlead and others"
)

// Enforced describes in one line, for approvals and results, what is enforced for commands with
// profile p on a machine with report r.
func Enforced(r sandbox.Report, p sandbox.Profile) string {
	if p.Mode == sandbox.Full {
		return fullAccess
	}
	p = p.WithDefaults()
	files := r.ConfinesFiles()
	blocked := p.Network == sandbox.NetBlocked
	net := blocked && r.BlocksNetwork()
	if !files && !net {
		return notEnforced
	}
	words := []string{"files " + string(p.Mode), "network blocked"}
	if !files {
		words[0] = "files " + notEnforced
	}
	switch {
	case !blocked:
		words[1] = "network allowed"
	case !net:
		words[1] = "network " + notEnforced
	}
	return strings.Join(words, ", ")
}

type streams struct {
	childIn, childOut *os.File // childIn is nil if there is no input
	in, out           *os.File // our ends; in is nil when the input cannot be written
	terminal          terminal // nil if it does not have any
}

type terminal interface {
	resize(cols, rows int) error
	// hangUp closes the terminal once its command has ended: remaining programs lose it, and its
	// output ends.
	hangUp()
	// console returns the console in which the system starts a program; nil where the files are
	// enough.
	console() sandbox.Console
}

func openStreams(stdin, tty bool) (s streams, err error) {
	if tty {
		return openTerminal(stdin)
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
		s.terminal.hangUp() // while its output is still being read
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
