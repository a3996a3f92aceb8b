package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
	"fairlead/node/floor"
	"fairlead/node/sandbox/confine"
	"fairlead/node/sandbox/supervisor"
)

// probeLimit is how long the probe may take before nothing counts as enforced, until the next
// start. During a login the machine may be unresponsive for seconds.
const probeLimit = 30 * time.Second

func (s *system) probe(ctx context.Context, opts Options) (report Report) {
	if s.unavailable != "" {
		return unenforcedReport(s.unavailable, Check{Why: "a process that has left the session of its command and whose parent has ended is not found: " + s.unavailable})
	}
	r, err := s.runProtectedProbe(ctx, opts)
	defer func() { s.protects = report.Check(CheckProtected).Enforced }()
	unwrapped := ""
	if s.set.Wrap != "" && (err != nil || !r.ConfinesFiles()) {
		unwrapped = "it was tested and did not confine files"
		if err != nil {
			unwrapped = err.Error()
		}
		s.set.Wrap = ""
		r, err = s.runProbe(ctx, opts, unwrapped)
	}
	if err != nil {
		why := "the test failed: " + err.Error()
		r = unenforcedReport(why, Check{Why: why})
		if _, ok := errors.AsType[*helperError](err); ok {
			s.unavailable = why // commands still run, and the report says so
		}
		return r
	}
	return r
}

// runProtectedProbe decides whether the helper for contained commands has a name space of users of
// its own, which it needs for mounts unless it is root's.
func (s *system) runProtectedProbe(ctx context.Context, opts Options) (r Report, err error) {
	isRoot := os.Geteuid() == 0
	for _, s.userSpace = range []bool{!isRoot, isRoot} {
		got, gotErr := s.runProbe(ctx, opts, "")
		protects := got.Check(CheckProtected).Enforced
		if !s.userSpace || protects {
			r, err = got, gotErr
		}
		if protects {
			return r, err
		}
	}
	s.userSpace = false
	return r, err
}

// helperError says that no helper can run at all.
type helperError struct{ err error }

func (e *helperError) Error() string { return e.err.Error() }

// runProbe starts a temporary helper and a contained process that attempts what must be impossible.
// unwrapped is the reason why bubblewrap is not used.
func (s *system) runProbe(ctx context.Context, opts Options, unwrapped string) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	dir, err := os.MkdirTemp(probeTemp(), "fairlead-probe-")
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return Report{}, err
	}
	t, closeAll, err := createTargets(dir)
	defer closeAll()
	if err != nil {
		return Report{}, err
	}
	set := s.set
	set.Hidden = append(slices.Clone(set.Hidden), filepath.Dir(t.Secret))
	h, err := startHelper(set, s.userSpace)
	if err != nil {
		return Report{}, &helperError{err}
	}
	defer h.Close()
	defer crash.WhenDone(ctx, h.Kill)()
	f, orphan, err := runAttempts(ctx, h, t)
	if err != nil {
		return Report{}, err
	}
	return newReport(f, orphan, landlockABI(opts), s.set.Wrap != "", unwrapped), nil
}

// probeTemp returns a folder for temporary files whose path is short enough for the name of a
// socket: the kernel accepts 107 bytes (unix(7)). It is not /tmp where possible, of which commands
// have their own.
func probeTemp() string {
	const other = "/var/tmp"
	if unix.Access(other, unix.W_OK) == nil {
		return other
	}
	if len(os.TempDir()) > 60 {
		return "/tmp"
	}
	return os.TempDir()
}

func createTargets(dir string) (t targets, closeAll func(), err error) {
	var open []io.Closer
	closeAll = func() {
		for _, c := range open {
			c.Close()
		}
	}
	t = targets{
		Workspace: filepath.Join(dir, "workspace"),
		Outside:   filepath.Join(dir, "outside"), Secret: filepath.Join(dir, "secret", "key"), Node: os.Getpid(),
		Unix: filepath.Join(dir, "outside", "socket"), Datagram: filepath.Join(dir, "outside", "datagrams"), Abstract: "@fairlead-probe-" + filepath.Base(dir),
	}
	for _, d := range []string{filepath.Join(t.Workspace, ".git", "hooks"), t.Outside, filepath.Dir(t.Secret)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return t, closeAll, err
		}
	}
	for _, f := range []string{t.Secret, filepath.Join(t.Outside, "old")} {
		if err := os.WriteFile(f, []byte("canary"), 0o600); err != nil {
			return t, closeAll, err
		}
	}
	for _, name := range []string{t.Unix, t.Abstract} {
		l, err := net.Listen("unix", name)
		if err != nil {
			return t, closeAll, err
		}
		open = append(open, l)
	}
	if c, err := net.ListenPacket("unixgram", t.Datagram); err == nil {
		open = append(open, c)
	} else {
		return t, closeAll, err
	}
	// On a machine without a loopback network nothing can be reached; sockets are tested all the
	// same.
	if l, err := net.Listen("tcp4", "127.0.0.1:0"); err == nil {
		open = append(open, l)
		t.TCP = l.Addr().(*net.TCPAddr).Port
	}
	if c, err := net.ListenPacket("udp4", "127.0.0.1:0"); err == nil {
		open = append(open, c)
		t.UDP = c.LocalAddr().(*net.UDPAddr).Port
	}
	return t, closeAll, nil
}

// runAttempts returns the findings of the contained process, and whether a process that left its
// session was ended with it.
func runAttempts(ctx context.Context, h *supervisor.Helper, t targets) (f findings, orphan bool, err error) {
	arg, err := json.Marshal(t)
	if err != nil {
		return f, false, err
	}
	exe, err := os.Executable()
	if err != nil {
		return f, false, err
	}
	var pipes [4]*os.File
	for i := 0; i < len(pipes); i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			return f, false, err
		}
		defer pipes[i].Close()
		defer pipes[i+1].Close()
	}
	stdin, out, stdout := pipes[0], pipes[2], pipes[3] // nobody writes to stdin
	profile := Profile{Mode: WorkspaceWrite, Network: NetBlocked, Workspace: t.Workspace, Read: []string{exe}, Programs: []confine.Program{{"*", helperWord, deniedArgument}}}
	p, err := start(h, Spec{
		Argv: []string{self, helperWord, "try", string(arg)}, Dir: "/", Stdin: stdin, Stdout: stdout,
		Env: []string{"GOMAXPROCS=1", raceOptions + "=" + os.Getenv(raceOptions)},
	}, profile.restrictions(&floor.List{}))
	stdin.Close()
	stdout.Close()
	if err != nil {
		return f, false, err
	}
	defer p.Kill()
	if deadline, ok := ctx.Deadline(); ok {
		out.SetReadDeadline(deadline)
	}
	if err := json.NewDecoder(out).Decode(&f); err != nil {
		return f, false, fmt.Errorf("reading the result of the confined process: %w", err)
	}
	alive := f.Stray > 0 && unix.Kill(f.Stray, 0) == nil
	p.Kill()
	select {
	case <-p.Done():
	case <-ctx.Done():
		return f, false, ctx.Err()
	}
	return f, alive && unix.Kill(f.Stray, 0) == unix.ESRCH, nil
}

func newReport(f findings, orphan bool, abi int, wrapped bool, unwrapped string) Report {
	var r Report
	for _, m := range layerChecks(abi, unwrapped) {
		a, tried := f.Attempts[m.id]
		c := Check{ID: m.id}
		switch {
		case tried && !a.Succeeded && !a.Inconclusive:
			c.Enforced, c.By = true, m.by
			if m.id == CheckTCP && a.Result == unix.EACCES.Error() {
				// There was a socket, but it could not be connected.
				c.By = fmt.Sprintf("Landlock ABI %d", abi)
			}
		case a.Inconclusive:
			c.Why = "the test was inconclusive: " + a.Result
		default:
			c.Why, c.Fix = m.why, m.fix
		}
		r.Checks = append(r.Checks, c)
	}
	o := Check{ID: CheckOrphans, Enforced: orphan, By: "supervisor"}
	if !orphan {
		o = Check{ID: CheckOrphans, Why: "a process that left its session continued after its command"}
	}
	r.Checks = append(r.Checks, o)
	if os.Geteuid() == 0 {
		r.Warnings = append(r.Warnings, "the node runs as root: commands do not have root's privileges, but can write"+
			" root's files in the folders that they may use")
	}
	if wrapped && r.ConfinesFiles() {
		r.Warnings = append(r.Warnings, "files are confined by bubblewrap, because the kernel has no Landlock: every command starts some hundredths of a second later")
	}
	if f.Problem != "" {
		r.Warnings = append(r.Warnings, "confined commands may not work: "+f.Problem)
	}
	r.Summary = r.summary()
	return r
}
