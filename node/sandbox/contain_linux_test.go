package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/node/sandbox"
)

func TestWorkspaceWriteKeepsWritesInside(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for _, c := range []struct {
			what, script string
			allowed      bool
		}{
			{"the workspace", "echo x >new && mkdir -p a/b && mv new a/b && rm -r a", true},
			{"a granted folder", `echo x >"$GRANTED/new"`, true},
			{"the private temporary folder", `f=$(mktemp) && echo x >"$f" && test "${f#$TMPDIR}" != "$f"`, true},
			{"the null device", "echo x >/dev/null", true},
			{"what its own output is", "echo x >/dev/stdout && echo x >/dev/stderr && echo x >/proc/self/fd/1", true},
			{"the kernel's settings", "cat /proc/sys/kernel/core_pattern >c && cat c >/proc/sys/kernel/core_pattern", false},
			{"another folder", `echo x >"$OUTSIDE/new"`, false},
			{"another file", `echo x >>"$OUTSIDE/old"`, false},
			{"removing outside", `rm "$OUTSIDE/old"`, false},
			{"a link that leads out", `ln -s "$OUTSIDE/dangling" out && echo x >out`, false},
			{"a hard link to another file", `ln "$OUTSIDE/old" hard`, false},
			{"moving out", `echo x >m && mv m "$OUTSIDE/m" 2>/dev/null; test -e "$OUTSIDE/m"`, false},
			{"moving in", `mv "$OUTSIDE/old" stolen 2>/dev/null; ! test -e "$OUTSIDE/old"`, false},
			{"another's terminal", "for p in /dev/pts/[0-9]*; do echo >$p && exit 0; done; exit 1", false},
		} {
			out, e := k.run(k.spec(c.script))
			if got := e.Code == 0; got != c.allowed {
				t.Errorf("writing %s: allowed %v, want %v (%s)", c.what, got, c.allowed, out)
			}
		}
		if data, err := os.ReadFile(filepath.Join(k.outside, "old")); err != nil || string(data) != "canary" {
			t.Errorf("the file outside: got %q, error %v; want it unchanged", data, err)
		}
	})
}

func TestReadOnlyWritesNothingButItsTemporaryFolder(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec("")
		s.Profile.Mode = sandbox.ReadOnly
		for script, allowed := range map[string]bool{
			"echo x >new": false, `echo x >"$GRANTED/new"`: false, `echo x >"$TMPDIR/new"`: true, "cat /etc/passwd >/dev/null": true, "ls / >/dev/null": true,
		} {
			s.Argv = []string{"/bin/sh", "-c", script}
			if out, e := k.run(s); (e.Code == 0) != allowed {
				t.Errorf("%s: got exit code %d, want success %v (%s)", script, e.Code, allowed, out)
			}
		}
	})
}

func TestSecretsCannotBeRead(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		read := map[string]bool{"~/.ssh/id_ed25519": false, "~/.ssh/known_hosts": true, "~/data/token": false, "~/note": true}
		for file, allowed := range read {
			if out, e := k.run(k.spec("cat " + file)); (e.Code == 0) != allowed {
				t.Errorf("reading %s: got exit code %d, want success %v (%s)", file, e.Code, allowed, out)
			}
		}
		// Other ways to the same file.
		for _, script := range []string{
			"ln -s ~/.ssh s && cat s/id_ed25519", "cat /proc/self/root$HOME/.ssh/id_ed25519", "cd ~/.ssh && cat id_ed25519",
			"for d in $(find /dev -type b); do head -c 1 $d && exit 0; done; exit 1",
			"ln ~/.ssh/id_ed25519 k && cat k", "cat /proc/$PPID/environ",
		} {
			if out, e := k.run(k.spec(script)); e.Code == 0 || strings.Contains(out, "canary") {
				t.Errorf(`%s gave %q; want Code other than 0 and no "canary"`, script, out)
			}
		}
		s := k.spec("cat ~/.ssh/id_ed25519")
		s.Profile.Read = []string{filepath.Join(k.home, ".ssh", "id_ed25519")}
		if out, e := k.run(s); e.Code != 0 {
			t.Errorf("a granted secret: got exit %d %s, want 0", e.Code, out)
		}
		s = k.spec("cat ~/.ssh/id_ed25519 ~/data/token")
		s.Profile.Mode = sandbox.Full
		if out, e := k.run(s); e.Code != 0 || out != "canarycanary" {
			t.Errorf("in full mode: got exit %d %s, want both secrets", e.Code, out)
		}
	})
}

func TestSecretsInsideTheWorkspaceStayHidden(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec("cat .ssh/id_ed25519 || cat data/token || echo x >.ssh/rc || echo x >data/new")
		s.Dir, s.Profile.Workspace = k.home, k.home
		if out, e := k.run(s); e.Code == 0 || strings.Contains(out, "canary") {
			t.Errorf(`exit %d: %s; want Code other than 0 and no "canary"`, e.Code, out)
		}
		s.Argv[2] = "cat note && echo more >>note"
		if out, e := k.run(s); e.Code != 0 {
			t.Errorf("the rest of the workspace: got exit code %d and %s, want success", e.Code, out)
		}
	})
}

func TestNewFilesAreSeenByTheNextCommand(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for i := range 3 {
			name := filepath.Join(k.home, fmt.Sprint("later", i))
			if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, e := k.run(k.spec("cat " + name)); e.Code != 0 {
				t.Fatalf("%s: got %s; want Code 0", name, out)
			}
		}
		if err := os.RemoveAll(k.ws); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(k.ws, 0o700); err != nil {
			t.Fatal(err)
		}
		if out, e := k.run(k.spec("echo x >new")); e.Code != 0 {
			t.Fatalf("after the workspace was recreated: got %s, want that a file can be written", out)
		}
	})
}

// outsideTemp returns a folder with a file, outside of /tmp, of which commands have their own.
func outsideTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "outside")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		err = os.WriteFile(filepath.Join(dir, "old"), []byte("canary"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestReportMatchesTheEnforcement disables each layer and compares the report with what a command
// can then do.
func TestReportMatchesTheEnforcement(t *testing.T) {
	for _, missing := range [][]string{nil, {"landlock"}, {"seccomp"}, {"landlock", "bubblewrap"}, {"landlock", "bubblewrap", "seccomp"}, {"mounts"}, {"helper"}} {
		t.Run(strings.Join(missing, "+"), func(t *testing.T) {
			k := newKit(t, missing...)
			k.outside = outsideTemp(t)
			python := need(t, "/usr/bin/python3")
			if err := os.MkdirAll(filepath.Join(k.ws, ".git", "hooks"), 0o700); err != nil {
				t.Fatal(err)
			}
			r := k.box.Report()
			tcp, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer tcp.Close()
			connect := fmt.Sprintf("import socket;socket.create_connection(('127.0.0.1',%d))", tcp.Addr().(*net.TCPAddr).Port)
			tries := map[string][]string{
				sandbox.CheckWriteOutside: {"/bin/sh", "-c", `echo x >"$OUTSIDE/new"`},
				sandbox.CheckReadSecrets:  {"/bin/sh", "-c", "cat ~/data/token"},
				sandbox.CheckTCP:          {python, "-c", connect},
				sandbox.CheckUDP:          {python, "-c", "import socket;socket.socket(socket.AF_INET,socket.SOCK_DGRAM)"},
				sandbox.CheckIPC:          {python, "-c", "import ctypes,sys\nc=ctypes.CDLL(None)\ni=c.msgget(0,0o1600)\nsys.exit(i<0 or c.msgctl(i,0,0))"},
				sandbox.CheckPriority:     {python, "-c", fmt.Sprintf("import resource as r\nr.prlimit(%d,r.RLIMIT_CORE,r.prlimit(%[1]d,r.RLIMIT_CORE))", os.Getpid())},
				sandbox.CheckSignal:       {"/bin/sh", "-c", fmt.Sprint("kill -0 ", os.Getpid())},
				sandbox.CheckMetadata:     {"/bin/sh", "-c", `chmod 640 "$OUTSIDE/old"`},
				sandbox.CheckProtected:    {"/bin/sh", "-c", "echo x >.git/hooks/pre-commit"},
			}
			var none []string
			for id, argv := range tries {
				s := k.spec("")
				s.Argv = argv
				out, e := k.run(s)
				if c := r.Check(id); c.Enforced == (e.Code == 0) {
					t.Errorf("%s: got enforced %v in the report and exit code %d, want a failure just where it is enforced (%s)", id, c.Enforced, e.Code, out)
				} else if !c.Enforced {
					none = append(none, id)
					if c.Why == "" {
						t.Errorf("%s: got no reason why it is not enforced, want one", id)
					}
				}
			}
			want := map[string]sandbox.Summary{
				"": sandbox.Contained, "landlock": sandbox.Contained, "mounts": sandbox.Contained, "landlock+bubblewrap+seccomp": sandbox.None, "helper": sandbox.None,
			}[strings.Join(missing, "+")]
			if want == "" {
				want = sandbox.Partly
			}
			if by := r.Check(sandbox.CheckWriteOutside).By; len(missing) == 1 && missing[0] == "landlock" {
				if by != "bubblewrap" {
					t.Skipf("bubblewrap does not work here: %s", r.Check(sandbox.CheckWriteOutside).Why)
				}
				if len(r.Warnings) == 0 || !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "files are confined by bubblewrap") }) {
					t.Errorf("got warnings %q, want one that bubblewrap confines files", r.Warnings)
				}
			}
			if c := r.Check(sandbox.CheckProtected); slices.Equal(missing, []string{"mounts"}) &&
				(c.Why != "commands can change existing files that start programs later, such as hooks of Git" || c.Fix == "") {
				t.Errorf(`without mounts: got %q, %q; want missing other than %v or Why "commands can change existing files that start programs later, such as hooks of Git" and some Fix`, c.Why, c.Fix, []string{"mounts"})
			}
			if r.Summary != want {
				t.Errorf("summary %s, want %s (not enforced: %v)", r.Summary, want, none)
			}
		})
	}
}

// Commands cannot change their view of the files, and no program that would do so for them works
// inside: one reason not to use bubblewrap around Landlock.
func TestCommandsCannotChangeTheirViewOfTheFiles(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		unshare := need(t, "unshare")
		scripts := map[string]string{"mount": unshare + ` -Urm sh -c 'mount -t tmpfs none "$TMPDIR"'`, "bind": unshare + ` -Urm sh -c 'mount --bind / "$TMPDIR"'`}
		if bwrap, err := exec.LookPath("bwrap"); err == nil {
			scripts["bubblewrap"] = bwrap + " --unshare-user --ro-bind / / true"
		}
		for name, script := range scripts {
			if out, e := k.run(k.spec(script)); e.Code == 0 {
				t.Errorf("%s works: %s, want Code other than 0", name, out)
			}
		}
		if out, e := k.run(k.spec(unshare + " -U true")); e.Code != 0 {
			t.Logf("this system forbids user name spaces to commands altogether: %s", out)
		}
	})
}
