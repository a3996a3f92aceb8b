package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/node/sandbox"
	"fairlead/node/sandbox/confine"
)

// newTempKit returns a kit whose commands have a private /tmp.
func newTempKit(t *testing.T) *kit {
	t.Helper()
	k := newKit(t)
	k.protectedOrSkip()
	if !strings.HasPrefix(k.ws, "/tmp/") {
		t.Skip("the tests' own folders are not in /tmp, which TMPDIR decides")
	}
	return k
}

// succeed fails the test if the command does.
func (k *kit) succeed(script string) string {
	k.Helper()
	out, e := k.run(k.spec(script))
	if e.Code != 0 {
		k.Errorf("%s: got exit %d, want 0 (%s)", script, e.Code, out)
	}
	return out
}

// TestProgramsFindTheirSystemFiles runs programs that need a terminal, shared memory or
// /tmp.
func TestProgramsFindTheirSystemFiles(t *testing.T) {
	k := newTempKit(t)
	for program, script := range map[string]string{
		"script":   `script -qec 'test -t 0 && tty' /dev/null | grep -q /dev/pts/`,
		"expect":   `expect -c 'spawn sh -c "test -t 0 && echo yes"; expect yes exit; exit 1'`,
		"python3":  `python3 -c 'import pty; raise SystemExit(pty.spawn(["ls"]) >> 8)'`,
		"tmux":     `timeout 20 tmux -L t new -d 'echo yes >tmux; exec sleep 9' && timeout 60 sh -c 'until [ -s tmux ]; do sleep 0.05; done' && tmux -L t kill-server`,
		"ed":       `printf 'a\nline\n.\nw file\nq\n' | ed -s && grep -q line file`,
		"mktemp":   `f=$(mktemp /tmp/x.XXXXXX) && echo x >$f && rm $f`,
		"bash":     `bash -c 'cat <<<here' | grep here`,
		"perl":     `perl -e 'use IO::Pty; IO::Pty->new or die' 2>/dev/null || perl -e 'open F, "+<", "/dev/ptmx" or die $!'`,
		"/bin/sh":  `echo x >/dev/shm/x && cat /dev/shm/x && df /tmp /dev/shm`,
		"python3.": `python3 -c 'import multiprocessing as m; m.Lock(); p = m.Pool(2); p.map(abs, [1, -2]); from multiprocessing.shared_memory import SharedMemory as S; s = S(create=True, size=99); s.unlink()'`,
	} {
		t.Run(program, func(t *testing.T) {
			need(t, strings.TrimSuffix(program, "."))
			s := k.spec(script)
			if program == "tmux" && !connects() {
				s.Profile.Network = sandbox.NetAllowed
			}
			if out, e := k.run(s); e.Code != 0 {
				t.Errorf("got exit %d, want 0 (%s)", e.Code, out)
			}
		})
	}
}

// TestACommandInATerminalCanMakeFurtherOnes runs programs that open terminals in one of the node's.
func TestACommandInATerminalCanMakeFurtherOnes(t *testing.T) {
	k := newTempKit(t)
	for program, script := range map[string]string{
		"script":  `a=$(tty); b=$(script -qec tty /dev/null | tr -d '\r'); test "$a" != "$b" && case $b in /dev/pts/*) echo x >"$a";; *) exit 1; esac`,
		"expect":  `expect -c 'spawn tty; expect /dev/pts/ exit; exit 1'`,
		"python3": `python3 -c 'import os, pty; n = os.ttyname(0); m, s = pty.openpty(); assert os.ttyname(s) != n and os.path.samefile(n, "/proc/self/fd/0")'`,
		"tmux":    `tmux -L t new -d 'tty >tmux; exec sleep 9' && timeout 60 sh -c 'until [ -s tmux ]; do sleep 0.05; done' && grep /dev/pts/ tmux && tmux -L t kill-server`,
		"busybox": `test "$(busybox tty)" = "$(tty)"`,
		"ls":      `test "$(ls /dev/pts | grep -c '^[0-9]')" = 1`,
	} {
		t.Run(program, func(t *testing.T) {
			need(t, program)
			k.T = t
			s := k.spec(script)
			s.Env = append(s.Env, "TERM=xterm")
			if program == "tmux" && !connects() {
				s.Profile.Network = sandbox.NetAllowed
			}
			k.runInTerminal(s)
		})
	}
	k.T = t
}

// connects reports whether commands without the network can connect to their own Unix sockets.
func connects() bool { return confine.ABI() >= 9 }

func TestTemporaryFilesArePrivateToCommands(t *testing.T) {
	k := newTempKit(t)
	name := "fairlead-test-" + filepath.Base(filepath.Dir(k.ws)) + fmt.Sprint(os.Getpid())
	foreign := filepath.Join("/tmp", name+"-foreign")
	if err := os.WriteFile(foreign, []byte("foreign"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(foreign) })
	k.succeed("echo mine >/tmp/" + name + " && test $TMPDIR/" + name + " -ef /tmp/" + name)
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("got a file of a command in the system's %s, want none", dir)
		}
	}
	s := k.spec("cat /tmp/" + name)
	s.Profile.Network = sandbox.NetAllowed
	if out, e := k.run(s); e.Code != 0 || out != "mine" {
		t.Errorf("a later command with other rights: got %q, exit %d, want the file", out, e.Code)
	}
	if out := k.succeed("cat " + foreign); out != "foreign" {
		t.Errorf("a file of the system: got %q, want its content", out)
	}
	k.succeed("! echo x 2>/dev/null >>" + foreign + "; rm " + foreign + "; echo x >" + foreign)
	if data, err := os.ReadFile(foreign); err != nil || string(data) != "foreign" {
		t.Errorf("the system's file: got %q (%v), want it unchanged", data, err)
	}
	k.succeed("echo x >>" + filepath.Join(k.ws, "kept"))
	if _, err := os.Stat(filepath.Join(k.ws, "kept")); err != nil {
		t.Errorf("the file in a workspace in /tmp: got error %v, want none", err)
	}
	k.succeed("chmod 0 /tmp")
	temp := k.succeed("dirname $TMPDIR")
	k.box.Close()
	if _, err := os.Stat(temp); err == nil {
		t.Error("the temporary folder remains after the box")
	}
}

// TestPrivateTemporaryFolderOpensNoWay tries to reach protected and hidden files and the
// terminals of others by what commands have for themselves.
func TestPrivateTemporaryFolderOpensNoWay(t *testing.T) {
	k := newTempKit(t)
	envrc := filepath.Join(k.ws, ".envrc")
	if err := os.WriteFile(envrc, []byte("original"), 0o600); err != nil {
		t.Fatal(err)
	}
	rel := strings.TrimPrefix(k.ws, "/tmp/")
	find := `for d in /dev/*/ $TMPDIR/ /tmp/ /var/tmp/*/; do F=$d` + rel + `/.envrc; `
	top, _, _ := strings.Cut(rel, "/")
	for what, script := range map[string]string{
		"the protected file elsewhere":      find + `echo evil >$F; rm -f $F; ln -f $F hard && echo evil >hard; done`,
		"the folder above the workspace":    `mv /tmp/` + top + ` /tmp/moved && mkdir -p ` + k.ws + ` && echo evil >` + envrc,
		"a link instead of the folder":      `rm -rf /tmp/` + top + `; ln -s /etc /tmp/` + top,
		"a hidden file elsewhere":           `for d in /dev/*/ /tmp/ $TMPDIR/; do cat $d` + strings.TrimPrefix(k.home, "/tmp/") + `/.ssh/id_ed25519; done`,
		"a hidden file by a link":           `ln -s $HOME/.ssh /tmp/s; cat /tmp/s/id_ed25519; ln $HOME/.ssh/id_ed25519 /tmp/k && cat /tmp/k`,
		"the parent's temporary folder":     `P=/proc/$PPID/root; echo evil >$P/tmp/evil; cat $P` + k.home + `/.ssh/id_ed25519`,
		"a file outside":                    `for d in /dev/*/ /tmp/; do echo evil >$d` + strings.TrimPrefix(k.outside, "/tmp/") + `/evil; done`,
		"another's terminal":                `ls /dev/pts; for p in /dev/pts/[0-9]*; do echo canary >$p; done`,
		"a mount of the system's terminals": `mount -t devpts devpts /tmp; mount --bind / /tmp; umount /tmp; umount /dev/pts; ls /dev/pts`,
	} {
		out, _ := k.run(k.spec("{ " + script + "; } 2>&1"))
		if strings.Contains(out, "canary") {
			t.Errorf("%s: got %s, want no secret", what, out)
		}
		if data, err := os.ReadFile(envrc); err != nil || string(data) != "original" {
			t.Errorf("%s: the protected file: got %q (%v), want it unchanged", what, data, err)
		}
		if _, err := os.Stat(filepath.Join(k.outside, "evil")); err == nil {
			t.Errorf("%s: got a file outside, want none", what)
		}
	}
	k.succeed("test -w . && ! test -w /dev/pts/ptmx.missing && echo x >after")
}

// TestTemporaryFilesOfAnOrdinaryUser repeats these tests as a user without rights.
func TestTemporaryFilesOfAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the tests have run as an ordinary user already")
	}
	runAsNobody(t, "TestProgramsFindTheirSystemFiles|TestACommandInATerminal|TestTemporaryFilesArePrivateToCommands|TestPrivateTemporaryFolderOpensNoWay")
}
