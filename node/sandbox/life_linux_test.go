package sandbox_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox"
)

func TestKillReachesWhatLeftTheSession(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for _, mode := range []sandbox.Mode{sandbox.Full, sandbox.WorkspaceWrite} {
			dir := filepath.Join(k.ws, "pids")
			os.RemoveAll(dir)
			os.Mkdir(dir, 0o700)
			var script strings.Builder
			for i := range 3 {
				script.WriteString(stray(fmt.Sprint("pids/pid", i)))
			}
			script.WriteString(`trap "" TERM; sleep 999 & echo $! >pids/pida; echo $$ >pids/pidb; wait`)
			s := k.spec(script.String())
			s.Profile.Mode = mode
			other, _ := k.start(k.spec("sleep 999"))
			p, _ := k.start(s)
			list := pids(t, dir, 5)
			p.Kill()
			within(t, "the end of the tree", closed(p.Done()))
			for _, pid := range list {
				if alive(pid) {
					t.Errorf("%s: process %d is still there", mode, pid)
				}
			}
			if !alive(other.PID()) {
				t.Errorf("%s: another command was ended too", mode)
			}
			other.Kill()
			within(t, "the end of the other", closed(other.Done()))
		}
	})
}

func TestTerminateReachesTheWholeTree(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec(stray("pid0") + `sleep 999 & echo $! >pid1; wait`)
		p, _ := k.start(s)
		list := pids(t, k.ws, 2)
		p.Terminate()
		within(t, "the end of the tree", closed(p.Done()))
		if e, err := p.Wait(); err != nil || e.Signal != "SIGTERM" {
			t.Errorf("%+v, %v", e, err)
		}
		for _, pid := range list {
			if alive(pid) {
				t.Errorf("process %d is still there", pid)
			}
		}
	})
}

// leave are ways in which a command leaves a process running; %s is a program that writes its number to a file and then sleeps.
var leave = map[string]string{
	"background":      `%s &`,
	"subshell":        `(%s &)`,
	"setsid":          `setsid %s &`,
	"double fork":     `setsid sh -c 'setsid %s & exit 0' &`,
	"nohup":           `nohup %s >/dev/null 2>&1 &`,
	"disown":          `%s & disown`,
	"ignores SIGTERM": `(trap "" TERM; exec %s) &`,
	"holds no output": `%s >/dev/null 2>&1 </dev/null &`,
}

func TestProcessesEndWithTheirCommand(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		bash := need(t, "bash")
		if err := os.WriteFile(filepath.Join(k.ws, "stay"), []byte("#!/bin/sh\necho $$ >pid; exec sleep 999\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, how := range leave {
			t.Run(name, func(t *testing.T) {
				k := *k
				k.T = t
				os.Remove(filepath.Join(k.ws, "pid"))
				other, _ := k.start(k.spec("sleep 999"))
				s := k.spec("")
				s.Argv = []string{bash, "-c", fmt.Sprintf(how, "./stay") + "\nwhile ! test -s pid; do sleep 0.01; done; exit 3"}
				p, _ := k.start(s)
				if e, err := p.Wait(); err != nil || e.Code != 3 {
					t.Fatalf("got exit %+v and error %v, want exit code 3", e, err)
				}
				within(t, "the end of the tree", closed(p.Done()))
				if pid := pids(t, k.ws, 1)[0]; alive(pid) {
					t.Errorf("process %d still runs", pid)
				}
				if got := p.Ended(); got != 1 {
					t.Errorf("got %d ended processes, want 1", got)
				}
				if !alive(other.PID()) {
					t.Error("another command was ended too")
				}
				other.Kill()
			})
		}
	})
}

// A shell does not wait for the program at the end of >(...), which ends by itself when it has read everything.
func TestAProcessThatEndsByItselfIsNotEnded(t *testing.T) {
	k := newKit(t)
	s := k.spec("")
	s.Argv = []string{need(t, "bash"), "-c", `echo text > >(cat >copy)`}
	p, _ := k.start(s)
	within(t, "the end of the tree", closed(p.Done()))
	if data, err := os.ReadFile(filepath.Join(k.ws, "copy")); err != nil || string(data) != "text\n" {
		t.Errorf("got copy %q and error %v, want the text", data, err)
	}
	if got := p.Ended(); got != 0 {
		t.Errorf("got %d ended processes, want 0", got)
	}
}

func TestProcessesGetTheGraceBeforeTheyAreKilled(t *testing.T) {
	k := newKit(t)
	p, _ := k.start(k.spec(`(trap 'echo asked >asked; exit' TERM; echo $$ >pid0; while :; do sleep 0.01; done) & while ! test -s pid0; do sleep 0.01; done`))
	within(t, "the end of the tree", closed(p.Done()))
	if _, err := os.Stat(filepath.Join(k.ws, "asked")); err != nil {
		t.Errorf("the process was not sent SIGTERM: %v", err)
	}
}

func TestProcessesOfACommandAreListed(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		p, _ := k.start(k.spec(stray("pid0") + "sleep 999 & echo $! >pid1; echo $$ >pid2; wait"))
		want := pids(t, k.ws, 3)
		other, _ := k.start(k.spec("sleep 999"))
		got := p.Processes()
		for _, pid := range want {
			if !slices.Contains(got, pid) {
				t.Errorf("got processes %v, want %d among them", got, pid)
			}
		}
		if slices.Contains(got, other.PID()) {
			t.Errorf("got processes %v, with %d of another command", got, other.PID())
		}
		p.Kill()
		other.Kill()
		within(t, "the end of the tree", closed(p.Done()))
		if got := p.Processes(); len(got) != 0 {
			t.Errorf("got processes %v after the end, want none", got)
		}
		if got := p.Ended(); got < 2 {
			t.Errorf("got %d ended processes, want at least 2", got)
		}
	})
}

// TestNobodyThrowsTheBadgeAway lowers the mark by which a session's processes are found and leaves the session.
func TestNobodyThrowsTheBadgeAway(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		python := need(t, "/usr/bin/python3")
		s := k.spec("")
		s.Argv = []string{python, "-c", `
import os,resource,time,ctypes
if os.fork()==0:
    os.setsid()
    if os.fork()==0:
        ctypes.CDLL(None).setrlimit(10,(ctypes.c_ulong*2)(5,5))
        open("pid0","w").write(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
time.sleep(60)`}
		p, _ := k.start(s)
		pid := pids(t, k.ws, 1)[0]
		p.Kill()
		within(t, "the end of the tree", closed(p.Done()))
		within(t, "the end of who threw it away", func() bool { return !alive(pid) })
	})
}

func init() {
	// node starts a tree of processes and waits to be killed.
	plays["node"] = func() int {
		box, err := sandbox.New(tContext(), sandbox.Options{Missing: strings.Fields(os.Getenv("MISSING"))})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		ws := os.Getenv("WS")
		for _, mode := range []sandbox.Mode{sandbox.Full, sandbox.WorkspaceWrite} {
			script := fmt.Sprintf(`%s %s trap "" TERM; sleep 999 & echo $! >pid%sc; echo $$ >pid%sd; while :; do sleep 1; done`,
				stray(fmt.Sprintf("pid%sa", mode)), stray(fmt.Sprintf("pid%sb", mode)), mode, mode)
			if _, err := box.Start(sandbox.Spec{
				Profile: sandbox.Profile{Mode: mode, Workspace: ws}, Argv: []string{"/bin/sh", "-c", script}, Dir: ws,
				Env: sandbox.Environ(ws, nil),
			}); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		fmt.Println("ready")
		time.Sleep(time.Minute)
		return 1
	}
}

func TestNothingOutlivesANodeThatWasKilled(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for tries, begun := 1, time.Now(); ; tries++ { // other programs may hold it up: once is enough
			took := killed(t, k, filepath.Join(k.ws, fmt.Sprint(tries)))
			t.Logf("8 processes gone after %v", took)
			// The shells ignore SIGTERM, so the grace must have been given.
			if took < sandbox.TermGrace {
				t.Errorf("all gone after %v, want 250 to 400 ms", took)
			}
			if took <= sandbox.TermGrace+150*time.Millisecond {
				return
			}
			if time.Since(begun) > 2*time.Minute {
				t.Fatalf("all gone after %v, want 250 to 400 ms", took)
			}
		}
	})
}

// killed starts a node, kills it, and returns how long after that its 8 processes were gone.
func killed(t *testing.T, k *kit, ws string) time.Duration {
	t.Helper()
	if err := os.Mkdir(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := playing(t, "node", "WS="+ws, "MISSING="+strings.Join(k.missing, " "))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatal(line, err)
	}
	list := pids(t, ws, 8)
	begin := time.Now()
	cmd.Process.Kill()
	within(t, "the end of all", func() bool { return !slices.ContainsFunc(list, alive) })
	took := time.Since(begin)
	cmd.Wait()
	return took
}

func TestHelperThatWasKilledIsReplaced(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		p, _ := k.start(k.spec("sleep 999"))
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		helper, _ := strconv.Atoi(strings.Fields(string(stat))[3])
		if helper == os.Getpid() {
			t.Fatal("the command is the node's own child")
		}
		unix.Kill(helper, unix.SIGKILL)
		within(t, "news of the command", closed(p.Done()))
		if _, err := p.Wait(); err == nil {
			t.Error("the command's end is told as if it were known")
		}
		within(t, "the end of the command", func() bool { return !alive(p.PID()) })
		if out, e := k.run(k.spec(`echo x >"$OUTSIDE/new" || echo contained`)); e.Code != 0 || !strings.Contains(out, "contained") {
			t.Errorf("the next command: exit %d %s", e.Code, out)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec(stray("pid0") + `trap "" TERM; echo $$ >pid1; echo "$TMPDIR" >temp; while :; do sleep 1; done`)
		p, _ := k.start(s)
		list := pids(t, k.ws, 2)
		within(t, "temp", func() bool { b, _ := os.ReadFile(filepath.Join(k.ws, "temp")); return len(b) > 0 })
		temp, _ := os.ReadFile(filepath.Join(k.ws, "temp"))
		k.box.Close()
		within(t, "the end of the command", closed(p.Done()))
		for _, pid := range list {
			if alive(pid) {
				t.Errorf("process %d is still there", pid)
			}
		}
		if _, err := os.Stat(strings.TrimSpace(string(temp))); !os.IsNotExist(err) {
			t.Errorf("the private temporary folder is still there: %v", err)
		}
		if _, err := k.box.Start(k.spec("true")); err == nil {
			t.Error("a closed box starts commands")
		}
	})
}

func TestManyProcessesEndWithTheirCommand(t *testing.T) {
	k := newKit(t)
	const many = 200
	p, out := k.start(k.spec(fmt.Sprintf(`i=0; while [ $i -lt %d ]; do (trap "" TERM; sleep 999 & echo $!); i=$((i+1)); done`, many)))
	var list []int
	for lines := bufio.NewScanner(out); len(list) < many && lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	within(t, "the end of the tree", closed(p.Done()))
	if i := slices.IndexFunc(list, alive); i >= 0 {
		t.Errorf("process %d still runs", list[i])
	}
	if got := p.Ended(); len(list) != many || got != many {
		t.Errorf("got %d ended processes of %d, want %d", got, len(list), many)
	}
}

// Each process starts its successor in a session of its own and ends.
func TestAChainOfProcessesEndsWithItsCommand(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		chain := filepath.Join(k.ws, "chain")
		if err := os.WriteFile(chain, []byte("#!/bin/sh\nsetsid ./chain &\necho $$ >last\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		p, _ := k.start(k.spec("./chain; sleep 0.1"))
		within(t, "the end of the chain", closed(p.Done()))
		last := func() string { b, _ := os.ReadFile(filepath.Join(k.ws, "last")); return string(b) }
		before := last()
		time.Sleep(100 * time.Millisecond)
		if now := last(); now != before || p.Ended() == 0 {
			t.Errorf("got process %q after %q and %d ended, want an end of the chain", now, before, p.Ended())
		}
	})
}
