package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/node/sandbox"
)

// TestABrokenBubblewrapIsNotReportedAsProtection replaces bubblewrap by other programs.
func TestABrokenBubblewrapIsNotReportedAsProtection(t *testing.T) {
	for name, c := range map[string]struct{ program, why string }{
		"fails":          {"#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", "bubblewrap does not work: "},
		"holds nothing":  {"#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\n\"$@\" &\nwait\n", "did not confine files"},
		"is not there":   {"", "does not confine files"},
		"says something": {"#!/bin/sh\necho ready >&3\nexec sleep 0.1\n", "bubblewrap does not work: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.program != "" {
				if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(c.program), 0o755); err != nil {
					t.Fatal(err)
				}
				t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			} else {
				t.Setenv("PATH", dir)
			}
			k := newKit(t, "landlock")
			check := k.box.Report().Check(sandbox.CheckWriteOutside)
			if check.Enforced || !strings.Contains(check.Why, c.why) || !strings.Contains(check.Fix, "install bubblewrap") || k.box.Report().ConfinesFiles() {
				t.Errorf(`got %+v; want not check.Enforced, %v in check.Why, "install bubblewrap" in check.Fix and not k.box.Report.ConfinesFiles`, check, c.why)
			}
			s := k.spec(`echo x >"$OUTSIDE/new" && echo done`)
			s.Env = append(s.Env, "PATH=/usr/bin:/bin")
			if out, e := k.run(s); e.Code != 0 || out != "done" {
				t.Errorf("a command: got %+v and %s, want done and success", e, out)
			}
		})
	}
}

// A machine may be unresponsive for seconds during a login. That must not leave the commands
// unrestricted until the next start.
func TestSlowBubblewrapStillProtectsFiles(t *testing.T) {
	real, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("there is no bubblewrap here")
	}
	layers[1].need(t, newKit(t, "landlock").box)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte("#!/bin/sh\nsleep 6\nexec "+real+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	k := newKit(t, "landlock")
	if check := k.box.Report().Check(sandbox.CheckWriteOutside); !check.Enforced {
		t.Errorf("got %+v, want check.Enforced", check)
	}
}

// A temporary folder whose path is too long for a socket's name does not prevent the probe.
func TestALongNameOfTheTemporaryFolderChangesNothing(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		want := k.box.Report().Check(sandbox.CheckWriteOutside).Enforced
		dir := filepath.Join(t.TempDir(), strings.Repeat("long ", 20))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", dir)
		if check := newKit(t, k.missing...).box.Report().Check(sandbox.CheckWriteOutside); check.Enforced != want {
			t.Errorf("got %+v; want Enforced %v", check, want)
		}
	})
}

func TestHiddenFilesAreHiddenEachByItself(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		if err := os.WriteFile(filepath.Join(k.home, ".netrc"), []byte("canary"), 0o600); err != nil {
			t.Fatal(err)
		}
		box, err := sandbox.New(t.Context(), sandbox.Options{Missing: k.missing, Secrets: []string{filepath.Join(k.outside, "old")}})
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close()
		k.box = box
		for _, file := range []string{"~/.netrc", `"$OUTSIDE/old"`} {
			for _, script := range []string{"cat " + file, "echo x >>" + file, "cp " + file + " copy", "ln " + file + " hard"} {
				if out, e := k.run(k.spec(script)); e.Code == 0 || strings.Contains(out, "canary") {
					t.Errorf(`%s: exit %d %s; want Code other than 0 and no "canary"`, script, e.Code, out)
				}
			}
		}
		if data, err := os.ReadFile(filepath.Join(k.outside, "old")); err != nil || string(data) != "canary" {
			t.Errorf("the secret: got %q, error %v; want it unchanged", data, err)
		}
	})
}

// A home folder as the workspace: hidden names cannot be created there either, because that could
// plant keys for a later login.
func TestNothingIsPlantedUnderAHiddenName(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec("")
		s.Dir, s.Profile.Workspace = k.home, k.home
		for _, script := range []string{
			"mkdir .aws", "echo x >.npmrc", "mkdir made && mv made .kube", "mv .ssh ssh", "rm -r .ssh/known_hosts", "echo x >>.ssh/known_hosts",
		} {
			s.Argv[2] = script
			if out, e := k.run(s); e.Code == 0 {
				t.Errorf("%s works: %s, want Code other than 0", script, out)
			}
		}
		s.Argv[2] = "cat .ssh/known_hosts && echo more >>note"
		if out, e := k.run(s); e.Code != 0 {
			t.Errorf("what is open: got %+v %s, want exit 0", e, out)
		}
		if list, err := os.ReadDir(filepath.Join(k.home)); err != nil || len(list) != 3 {
			t.Errorf("got %v %v; want 3 entries and no error", list, err)
		}
	})
}
