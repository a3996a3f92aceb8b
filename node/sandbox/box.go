package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

// Box starts commands. It is safe for use by several goroutines.
type Box struct {
	report Report
	sys    *system
}

// mainCalled says that this program can run as its own helper. Without it, a helper would start a
// second copy of the whole program.
var mainCalled atomic.Bool

// Main runs the program as one of the sandbox's helpers if its arguments request that; it does not
// return then. Call it first in main, and in TestMain. In a program that does not call it, only the
// process group holds the processes of a command together.
func Main() {
	mainCalled.Store(true)
	if len(os.Args) >= 2 && os.Args[1] == helperWord {
		os.Exit(helperMain(os.Args[2:]))
	}
}

const helperWord = "__sandbox"

// New tests what this machine enforces, which takes up to about 300 ms, and returns a Box. It is not
// an error when nothing is enforced: see Report. Close ends all processes that the box started.
func New(ctx context.Context, opts Options) (*Box, error) {
	for _, p := range append([]string{opts.Home}, opts.Secrets...) {
		if p != "" && !filepath.IsAbs(p) {
			return nil, fmt.Errorf("sandbox: %q is not an absolute path", p)
		}
	}
	sys := newSystem(opts)
	return &Box{sys.probe(ctx, opts), sys}, nil
}

// Report returns what the machine enforces.
func (b *Box) Report() Report { return b.report }

// Start starts a command. It returns *os.PathError or syscall.Errno when the system cannot start it.
func (b *Box) Start(s Spec) (*Process, error) {
	s.Profile = s.Profile.WithDefaults()
	if err := checkSpec(s); err != nil {
		return nil, err
	}
	return b.sys.start(s)
}

// Close sends SIGTERM to every running command, kills the remaining ones after TermGrace, and waits
// at most a second.
func (b *Box) Close() { b.sys.close() }

func checkSpec(s Spec) error {
	switch p := s.Profile; {
	case len(s.Argv) == 0 || !filepath.IsAbs(s.Argv[0]):
		return errors.New("sandbox: the program must be an absolute path")
	case !filepath.IsAbs(s.Dir):
		return errors.New("sandbox: the folder must be an absolute path")
	case p.Mode != ReadOnly && p.Mode != WorkspaceWrite && p.Mode != Full:
		return fmt.Errorf("sandbox: unknown mode %q", p.Mode)
	case p.Network != NetBlocked && p.Network != NetAllowed:
		return fmt.Errorf("sandbox: unknown network %q", p.Network)
	case p.Workspace != "" && !filepath.IsAbs(p.Workspace):
		return errors.New("sandbox: the workspace must be an absolute path")
	}
	for _, f := range append(append([]string{}, s.Profile.Write...), s.Profile.Read...) {
		if !filepath.IsAbs(f) {
			return fmt.Errorf("sandbox: granted folder %q is not an absolute path", f)
		}
	}
	return nil
}
