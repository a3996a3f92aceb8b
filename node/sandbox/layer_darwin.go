package sandbox

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fairlead/node/workspace"
	"golang.org/x/sys/unix"
)

type layer struct {
	off bool

	mu   sync.Mutex
	temp string
}

func (l *layer) wrap(s Spec, opts Options) ([]string, []string, error) {
	p := s.Profile
	if !p.isContained() || l.off {
		return s.Argv, s.Env, nil
	}
	temp, err := l.tempDir()
	if err != nil {
		return nil, nil, err
	}
	hide, show := hidden(opts)
	r := p.restrictions(opts.Floor)
	f := seatbeltRules{Secrets: resolved(hide), Restrictions: *r}
	f.Writable = append([]string{temp}, resolved(r.Writable)...)
	f.Readable = resolved(append(show, p.Read...))
	if s.PTY && s.Stdin != nil {
		f.TTY = s.Stdin.Name()
	}
	env := unset(unset(s.Env, sockets...), "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME")
	env = append(env, "TMPDIR="+temp, "XDG_CACHE_HOME="+filepath.Join(temp, ".cache"))
	return seatbeltArgs(f, programFolders(env), s.Argv), env, nil
}

// programFolders returns the folders in which a command finds programs, and those of the system.
func programFolders(env []string) []string {
	folders := []string{"/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"}
	for _, kv := range env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			folders = append(folders, filepath.SplitList(list)...)
		}
	}
	return folders
}

// resolved follows links in the existing part of each path.
func resolved(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, workspace.RealPath(p))
	}
	return out
}

func (l *layer) tempDir() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.temp == "" {
		dir, err := os.MkdirTemp("", "fairlead-")
		if err != nil {
			return "", err
		}
		l.temp = workspace.RealPath(dir)
	}
	return l.temp, nil
}

func (l *layer) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.temp != "" {
		os.RemoveAll(l.temp)
	}
}

// probe tests what the shell can test. Anything else counts as not enforced.
func (l *layer) probe(ctx context.Context, opts Options) Report {
	orphans := Check{Why: "a process that has left the session of its command and whose parent has ended is not found, and commands outlive a node that is killed"}
	if slices.Contains(opts.Missing, "seatbelt") {
		l.off = true
		return unenforcedReport("sandbox-exec is disabled", orphans)
	}
	if _, err := os.Stat("/usr/bin/sandbox-exec"); err != nil {
		l.off = true
		return unenforcedReport("there is no sandbox-exec", orphans)
	}
	r := unenforcedReport("it was not tested", orphans)
	dir, err := os.MkdirTemp("", "fairlead-probe-")
	if err != nil {
		return unenforcedReport(err.Error(), orphans)
	}
	defer os.RemoveAll(dir)
	dir = workspace.RealPath(dir)
	ws, out, secret := filepath.Join(dir, "ws"), filepath.Join(dir, "outside"), filepath.Join(dir, "secret")
	for _, d := range []string{filepath.Join(ws, ".git", "hooks"), out, secret} {
		os.MkdirAll(d, 0o700)
	}
	os.WriteFile(filepath.Join(secret, "key"), []byte("canary"), 0o600)
	port := "9"
	if ln, err := net.Listen("tcp4", "127.0.0.1:0"); err == nil {
		defer ln.Close()
		port = strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	}
	with := opts
	with.Secrets = append(slices.Clone(opts.Secrets), secret)
	run := func(script string) (code int, ok bool) { return l.runScript(ctx, ws, script, with) }
	// If a contained command cannot even write to its workspace, its failures prove nothing.
	if code, ok := run("echo x >" + quote(filepath.Join(ws, "canary"))); !ok || code != 0 {
		r.Warnings = append(r.Warnings, "confined commands do not work here")
		return r
	}
	for id, script := range map[string]string{
		CheckWriteOutside: "echo x >" + quote(filepath.Join(out, "new")),
		CheckReadSecrets:  "cat " + quote(filepath.Join(secret, "key")),
		CheckProtected:    "echo x >" + quote(filepath.Join(ws, ".git", "hooks", "pre-commit")),
		CheckTCP:          "echo x >/dev/tcp/127.0.0.1/" + port,
		CheckUDP:          "echo x >/dev/udp/127.0.0.1/" + port,
		CheckSignal:       "kill -0 " + strconv.Itoa(os.Getpid()),
	} {
		if code, ok := run(script); ok && code != 0 {
			i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.ID == id })
			r.Checks[i] = Check{ID: id, Enforced: true, By: "Seatbelt"}
		}
	}
	r.Summary = r.summary()
	return r
}

// runScript runs a confined script; ok is false if it did not run to its end.
func (l *layer) runScript(ctx context.Context, workspace, script string, opts Options) (code int, ok bool) {
	spec := Spec{Profile: Profile{Workspace: workspace}.WithDefaults(), Argv: []string{"/bin/bash", "-c", script}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}}
	argv, env, err := l.wrap(spec, opts)
	if err != nil {
		return 0, false
	}
	spec.Env = env
	p, err := direct(argv, spec)
	if err != nil {
		return 0, false
	}
	defer p.Kill()
	select {
	case <-p.Exited():
	case <-ctx.Done():
		return 0, false
	}
	e, err := p.Wait()
	return e.Code, err == nil
}

// quote quotes a path as one word for a shell; the probe's paths come from the system and contain
// no quotes.
func quote(p string) string { return "'" + p + "'" }

// zombie is the state SZOMB of sys/proc.h.
const zombie = 5

func processTable() (list []processEntry) {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil
	}
	for _, p := range procs {
		if p.Proc.P_stat == zombie {
			continue
		}
		e := processEntry{pid: int(p.Proc.P_pid), parent: int(p.Eproc.Ppid), group: int(p.Eproc.Pgid)}
		e.session, _ = unix.Getsid(e.pid)
		list = append(list, e)
	}
	return list
}

// helperMain is not used: no probe starts a helper here.
func helperMain([]string) int { return 2 }
