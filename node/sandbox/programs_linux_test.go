package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/node/sandbox"
	"fairlead/node/sandbox/confine"
)

// TestDeniedProgramsCannotBeStarted starts a denied program in many ways.
func TestDeniedProgramsCannotBeStarted(t *testing.T) {
	k := newKit(t)
	denied := []confine.Program{{"id", "**"}, {"git", "push", "**"}}
	if c := k.box.Report().Check(sandbox.CheckPrograms); !c.Enforced {
		t.Skipf("this machine cannot watch programs: %s", c.Why)
	}
	for name, content := range map[string]string{
		"script": "#!/bin/sh\nid -u\n", "direct": "#!/usr/bin/id -u\n", "Makefile": "all:\n\t@id -u\n", "loop": "#!" + filepath.Join(k.ws, "loop") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(k.ws, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		script  string
		allowed bool
	}{
		{"id -u", false},
		{"/usr/bin/id -u", false},
		{"cd /usr/bin && ./id -u", false},
		{"exec id -u", false},
		{"env id -u", false},
		{"nice id -u", false},
		{"sh -c 'id -u'", false},
		{"./script", false},
		{"./direct", false},
		{"echo id -u | sh", false},
		{"find /etc/hostname -exec id -u {} +", false},
		{"echo x | xargs id -u", false},
		{"ln -s /usr/bin/id other && ./other -u", false},
		{"bash -c 'exec -a other id -u'", false},
		{"setsid -w id -u", false},
		{"$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null) /usr/bin/id -u", false},
		{"python3 -c 'import os;os.execv(\"/usr/bin/id\",[\"x\",\"-u\"])'", false},
		{"python3 -c 'import os;f=os.open(\"/usr/bin/id\",os.O_RDONLY|os.O_CLOEXEC);os.execve(f,[\"x\",\"-u\"],{})'", false},
		{"python3 -c 'import subprocess;subprocess.run([\"id\",\"-u\"],check=True)'", false},
		{"perl -e 'exit(system(\"id\",\"-u\")!=0)'", false},
		{"make -s", false},
		{"git -C . push", false},
		{"./loop", false},
		{"uname && ls && sh -c 'echo id'", true},
		{"git --version && echo push", true},
		{"for i in 1 2 3 4 5 6 7 8 9; do /bin/true & done; wait", true},
		{"mkfifo -m 700 pipe; exec 3<>pipe; ./pipe; true", true},
	} {
		t.Run(c.script, func(t *testing.T) {
			s := k.spec("PATH=/usr/bin:/bin; " + c.script)
			s.Profile.Programs = denied
			out, e := k.run(s)
			if (e.Code == 0) != c.allowed || !c.allowed && strings.TrimSpace(out) == "0" {
				t.Errorf("got exit code %d, want success %v (%s)", e.Code, c.allowed, out)
			}
		})
	}
	s := k.spec("id; git push; id; ls")
	s.Profile.Programs = denied
	p, _ := k.start(s)
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := p.RefusedPrograms(); !slices.Equal(got, []string{"id", "git"}) {
		t.Errorf("refused programs: got %q, want id and git", got)
	}
}
