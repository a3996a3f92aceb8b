package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"fairlead/node/floor"
	"fairlead/node/sandbox/confine"
	"fairlead/node/sandbox/supervisor"
	"fairlead/node/workspace"
)

// Mode restricts a command's access to files.
type Mode string

const (
	// ReadOnly permits reading everything but secrets, and writing only to a private folder for
	// temporary files.
	ReadOnly Mode = "read-only"
	// WorkspaceWrite, the default, also permits writing to the workspace and the granted folders.
	WorkspaceWrite Mode = "workspace-write"
	// Full contains nothing; the command's processes still end together.
	Full Mode = "full"
)

// Network says whether a command may use the network. The gateway asks the person before.
type Network string

const (
	// NetBlocked, the default, leaves a command only pairs of Unix sockets, and on Linux from
	// Landlock ABI 9 on Unix sockets in the folders that it may write.
	NetBlocked Network = "blocked"
	// NetAllowed permits every network, and the Unix sockets of the user's services.
	NetAllowed Network = "allowed"
)

// Profile restricts one command. The zero value is WorkspaceWrite without a workspace and with the
// network blocked.
type Profile struct {
	Mode    Mode
	Network Network
	// Workspace is the absolute path of the workspace. If it contains secrets, as a home folder
	// does, then on Linux nothing new can be created directly in it and in the folders that lead to
	// the secrets.
	Workspace string
	// Write are granted writable folders, Read granted readable secrets; absolute paths. A device,
	// or /dev/shm for programs with shared memory, is granted like a folder.
	Write, Read []string
	// Lifted are files and folders that the command may change although they start programs later;
	// absolute paths. Unprotected lifts all of them, for the person's own commands.
	Lifted      []string
	Unprotected bool
	// Unpinned are folders of which the same is true because the command only moves files in them. A
	// look afterwards finds what it changed all the same.
	Unpinned []string
	// Hidden cannot be read, ReadOnly cannot be changed, and Programs cannot be started by whatever
	// the command runs, where the machine enforces that. The paths are absolute patterns for what
	// exists; see [floor.Expand].
	Hidden, ReadOnly []string
	Programs         []confine.Program
}

// Spec is one command to start.
type Spec struct {
	Profile Profile
	Argv    []string // the first is an absolute path
	// Line is, on Windows, the command line to use instead of one made of Argv, for programs such
	// as cmd.exe with their own rules for quotes.
	Line string
	Dir  string   // absolute
	Env  []string // all variables; TMPDIR is replaced for a contained command
	// Stdin, Stdout and Stderr are the command's; nil is the null device. The caller owns them and
	// may close them when Start has returned.
	Stdin, Stdout, Stderr *os.File
	// Control, on Unix, is descriptor 3 of the program; nil if it has none.
	Control *os.File
	// PTY makes Stdin, a terminal, the command's controlling terminal.
	PTY bool
	// Console is, on Windows, the command's terminal instead of the files.
	Console Console
	// User, on Unix and in a program of root, runs a command that is not contained as another user.
	User *User
}

// User is a user of the system and its groups.
type User struct {
	UID, GID uint32
	Groups   []uint32
}

// Options configure New.
type Options struct {
	Home    string   // the program's own data folder; no contained command can read or write it
	Secrets []string // further files and folders that no contained command can read
	// Floor lists the files that contained commands cannot change. The caller closes it after the
	// box. Nil means a list that walks.
	Floor *floor.List
	// Missing names layers to disable ("landlock", "bubblewrap", "seccomp", "mounts", "helper"): for
	// tests,
	// and to find out which layer breaks a command.
	Missing []string
}

const (
	// TermGrace is the time between SIGTERM and SIGKILL for processes that outlive their command,
	// and for all when the box is closed or the node has died.
	TermGrace = supervisor.Grace
	// SettleTime is the time that processes which outlive their command have to end by themselves,
	// such as the end of a pipe that the shell does not wait for.
	SettleTime = supervisor.SettleTime
)

// WithDefaults returns p with its empty fields set.
func (p Profile) WithDefaults() Profile {
	if p.Mode == "" {
		p.Mode = WorkspaceWrite
	}
	if p.Network == "" {
		p.Network = NetBlocked
	}
	return p
}

func (p Profile) isContained() bool { return p.Mode != Full }

// restrictions describes what a contained command with the profile can do now.
func (p Profile) restrictions(list *floor.List) *confine.Restrictions {
	r := &confine.Restrictions{Programs: p.Programs, Network: p.Network == NetAllowed, Readable: slices.Clone(p.Read)}
	if p.Workspace != "" {
		r.Readable = append(r.Readable, p.Workspace)
	}
	r.Hidden = list.Expand(p.Hidden, append([]string{p.Workspace}, p.Write...))
	if p.Mode != WorkspaceWrite {
		return r
	}
	if p.Workspace != "" {
		r.Writable = append(r.Writable, p.Workspace)
	}
	r.Writable = append(r.Writable, p.Write...)
	isHidden := func(pattern string) bool { return slices.Contains(p.Hidden, pattern) }
	r.Denied = list.Expand(slices.DeleteFunc(slices.Clone(p.ReadOnly), isHidden), r.Writable)
	if p.Unprotected {
		r.ReadOnly = r.Denied
		return r
	}
	for _, dir := range r.Writable {
		r.ReadOnly = append(r.ReadOnly, list.Files(workspace.RealPath(dir))...)
	}
	for _, path := range slices.Concat(p.Lifted, p.Unpinned) {
		r.ReadOnly = floor.Without(r.ReadOnly, workspace.RealPath(path))
	}
	r.ReadOnly = append(r.ReadOnly, r.Denied...)
	return r
}

// Console is a terminal that is passed to a program when it starts, and not as a file: Windows'
// pseudo console.
type Console interface {
	// Spawn starts a program in it. The caller owns the handle.
	Spawn(name string, args []string, attr *syscall.ProcAttr) (pid int, handle uintptr, err error)
}

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
	if opts.Floor == nil {
		opts.Floor = &floor.List{}
	}
	handleIgnoredSignals()
	sys := newSystem(opts)
	return &Box{sys.probe(ctx, opts), sys}, nil
}

// Report returns what the machine enforces.
func (b *Box) Report() Report { return b.report }

// PrivateTemp returns the folder that contained commands with a profile have in place of the
// system's /tmp, as long as the box is open; empty if they use the system's. It has links to what is
// in the system's; see [workspace.Config].
func (b *Box) PrivateTemp(p Profile) string {
	if p = p.WithDefaults(); !p.isContained() {
		return ""
	}
	return b.sys.privateTemp(p)
}

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
	case s.User != nil && p.isContained():
		return errors.New("sandbox: a contained command cannot run as another user")
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
