package sandbox_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/node/sandbox"
)

// kit is a box with a workspace, a folder outside and a secret.
type kit struct {
	*testing.T
	box                        *sandbox.Box
	ws, outside, granted, home string
	missing                    []string
}

// both runs a test with each layer that can restrict files.
func both(t *testing.T, test func(*testing.T, *kit)) {
	for _, layer := range layers {
		t.Run(layer.name, func(t *testing.T) {
			k := newKit(t, layer.missing...)
			layer.need(t, k.box)
			test(t, k)
		})
	}
}

type layer struct {
	name    string
	missing []string
}

var layers = []layer{{"Landlock", nil}, {"bubblewrap", []string{"landlock"}}}

// need skips a test where the layer does not restrict files.
func (l layer) need(t *testing.T, b *sandbox.Box) {
	t.Helper()
	if c := b.Report().Check(sandbox.CheckWriteOutside); !strings.HasPrefix(c.By, l.name) {
		t.Skipf("%s does not hold files here: %s", l.name, c.Why)
	}
}

func newKit(t *testing.T, missing ...string) *kit {
	t.Helper()
	dir := t.TempDir()
	k := &kit{
		T: t, ws: filepath.Join(dir, "ws"), outside: filepath.Join(dir, "outside"),
		granted: filepath.Join(dir, "granted"), home: filepath.Join(dir, "home"), missing: missing,
	}
	for _, d := range []string{k.ws, k.outside, k.granted, filepath.Join(k.home, ".ssh"), filepath.Join(k.home, "data")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"outside/old", "home/.ssh/id_ed25519", "home/.ssh/known_hosts", "home/data/token", "home/note"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("canary"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", k.home)
	box, err := sandbox.New(t.Context(), sandbox.Options{Home: filepath.Join(k.home, "data"), Missing: missing})
	if err != nil {
		t.Fatal(err)
	}
	k.box = box
	t.Cleanup(func() { box.Close() })
	return k
}

func (k *kit) spec(script string) sandbox.Spec {
	return sandbox.Spec{
		Profile: sandbox.Profile{Workspace: k.ws, Write: []string{k.granted}}, Argv: []string{"/bin/sh", "-c", script}, Dir: k.ws,
		Env: append(sandbox.Environ(k.ws, nil), "OUTSIDE="+k.outside, "GRANTED="+k.granted),
	}
}

// short returns a folder outside whose path is short enough for a socket's name: the system accepts
// 107 bytes.
func (k *kit) short() string {
	k.Helper()
	if len(k.outside) < 100 {
		return k.outside
	}
	dir, err := os.MkdirTemp("/tmp", "outside")
	if err != nil {
		k.Skipf("the temporary folder's name is too long for a socket, and there is no other: %v", err)
	}
	k.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// run returns a command's output and exit.
func (k *kit) run(s sandbox.Spec) (string, sandbox.Exit) {
	k.Helper()
	p, out := k.start(s)
	text, err := io.ReadAll(out)
	if err != nil {
		k.Fatal(err)
	}
	e, err := p.Wait()
	if err != nil {
		k.Fatal(err)
	}
	return strings.TrimSpace(string(text)), e
}

// start returns a command and the reading end of its output.
func (k *kit) start(s sandbox.Spec) (*sandbox.Process, *os.File) {
	k.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		k.Fatal(err)
	}
	defer in.Close()
	k.Cleanup(func() { out.Close() })
	s.Stdout, s.Stderr = in, in
	p, err := k.box.Start(s)
	if err != nil {
		k.Fatal(err)
	}
	return p, out
}

// alive reports whether there is a process with that number that is not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return !strings.HasPrefix(rest, " Z") && !strings.HasPrefix(rest, " X")
}

// patience is how long a test waits for something that comes much sooner on an idle machine; it is
// less than the commands of the tests sleep.
const patience = 3 * time.Minute

func closed(c <-chan struct{}) func() bool {
	return func() bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
}

// need returns the path of a program that a test requires.
func need(t *testing.T, name string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return p
}

// strayCommand returns a shell fragment that starts a sleep in a session of its own whose parent
// has ended, twice removed, and writes its number to a file.
func strayCommand(file string) string {
	return `setsid sh -c 'setsid sh -c "echo \$\$ >` + file + `; exec sleep 999" & exit 0' & `
}

// pids reads the numbers in the files of a folder.
func pids(t *testing.T, dir string, n int) (list []int) {
	t.Helper()
	polltest.Until(t, "all processes", func() bool {
		list = nil
		files, _ := filepath.Glob(filepath.Join(dir, "pid*"))
		for _, f := range files {
			data, _ := os.ReadFile(f)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
				list = append(list, pid)
			}
		}
		return len(list) == n
	})
	return list
}

// asNobody starts the test program in a play as a user without rights.
func asNobody(t *testing.T, play string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := roleCommand(t, play, env...)
	if os.Getuid() != 0 {
		return cmd
	}
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exe, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Dir = filepath.Join(dir, "program"), dir
	for _, err := range []error{os.WriteFile(cmd.Path, exe, 0o755), os.Chown(dir, 65534, 65534), os.Chmod(dir, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	// In the system's table of users it has a shell that refuses to run.
	cmd.Env = append(cmd.Env, "HOME="+dir, "TMPDIR="+dir, "SHELL=/bin/sh")
	return cmd
}

// playLimit ends a play that waits for ever before the test itself has to end, and lets it print
// what it waits for.
const playLimit = 20 * time.Minute

func roleCommand(t *testing.T, play string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), playLimit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, exe)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }, 10*time.Second
	cmd.Env = append(append(os.Environ(), env...), "SANDBOX_PLAY="+play)
	cmd.Stderr = os.Stderr
	return cmd
}
