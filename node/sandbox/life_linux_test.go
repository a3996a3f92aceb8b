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

	"fairlead/gateway/peer/polltest"
	"fairlead/node/sandbox"
)

func TestKillReachesProcessesOutsideTheSession(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for _, mode := range []sandbox.Mode{sandbox.Full, sandbox.WorkspaceWrite} {
			dir := filepath.Join(k.ws, "pids")
			os.RemoveAll(dir)
			os.Mkdir(dir, 0o700)
			var script strings.Builder
			for i := range 3 {
				script.WriteString(strayCommand(fmt.Sprint("pids/pid", i)))
			}
			script.WriteString(`trap "" TERM; sleep 999 & echo $! >pids/pida; echo $$ >pids/pidb; wait`)
			s := k.spec(script.String())
			s.Profile.Mode = mode
			other, _ := k.start(k.spec("sleep 999"))
			p, _ := k.start(s)
			list := pids(t, dir, 5)
			p.Kill()
			polltest.Until(t, "the end of the tree", closed(p.Done()))
			for _, pid := range list {
				if alive(pid) {
					t.Errorf("%s: process %d still runs, want it ended", mode, pid)
				}
			}
			if !alive(other.PID()) {
				t.Errorf("%s: another command ended too, want it to go on", mode)
			}
			other.Kill()
			polltest.Until(t, "the end of the other", closed(other.Done()))
		}
	})
}

func TestTerminateReachesTheWholeTree(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec(strayCommand("pid0") + `sleep 999 & echo $! >pid1; wait`)
		p, _ := k.start(s)
		list := pids(t, k.ws, 2)
		p.Terminate()
		polltest.Until(t, "the end of the tree", closed(p.Done()))
		if e, err := p.Wait(); err != nil || e.Signal != "SIGTERM" {
			t.Errorf(`got %+v, %v; want no error and Signal "SIGTERM"`, e, err)
		}
		for _, pid := range list {
			if alive(pid) {
				t.Errorf("process %d still runs, want it ended", pid)
			}
		}
	})
}

// TestCommandsCannotDropTheBadge lowers the limit by which a session's processes are found and
// leaves the session.
func TestCommandsCannotDropTheBadge(t *testing.T) {
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
		polltest.Until(t, "the end of the tree", closed(p.Done()))
		polltest.Until(t, "the end of who threw it away", func() bool { return !alive(pid) })
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
				strayCommand(fmt.Sprintf("pid%sa", mode)), strayCommand(fmt.Sprintf("pid%sb", mode)), mode, mode)
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
		// The shells ignore SIGTERM, so the grace period must have passed.
		if took := killNode(t, k, filepath.Join(k.ws, "1")); took < sandbox.TermGrace {
			t.Errorf("all gone after %v, want at least %v", took, sandbox.TermGrace)
		}
	})
}

// killNode starts a node, kills it, and returns how long after that its 8 processes were gone.
func killNode(t *testing.T, k *kit, ws string) time.Duration {
	t.Helper()
	if err := os.Mkdir(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := roleCommand(t, "node", "WS="+ws, "MISSING="+strings.Join(k.missing, " "))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf(`got %v, %v; want no error and line "ready\n"`, line, err)
	}
	list := pids(t, ws, 8)
	begin := time.Now()
	cmd.Process.Kill()
	polltest.Until(t, "the end of all", func() bool { return !slices.ContainsFunc(list, alive) })
	took := time.Since(begin)
	cmd.Wait()
	return took
}

func TestHelperThatWasKilledIsReplaced(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		p, _ := k.start(k.spec(strayCommand("pid0") + "sleep 999"))
		left := pids(t, k.ws, 1)[0]
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		helper, _ := strconv.Atoi(strings.Fields(string(stat))[3])
		if helper == os.Getpid() {
			t.Fatal("the command is the node's own child")
		}
		unix.Kill(helper, unix.SIGKILL)
		polltest.Until(t, "news of the command", closed(p.Done()))
		if _, err := p.Wait(); err == nil {
			t.Error("the command's end is told as if it were known")
		}
		polltest.Until(t, "the end of the command", func() bool { return !alive(p.PID()) })
		if alive(left) {
			t.Error("a process that left the session of the command still runs")
		}
		if out, e := k.run(k.spec(`echo x >"$OUTSIDE/new" || echo contained`)); e.Code != 0 || !strings.Contains(out, "contained") {
			t.Errorf("the next command: got exit %d %s, want it contained", e.Code, out)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec(strayCommand("pid0") + `trap "" TERM; echo $$ >pid1; echo "$TMPDIR" >temp; while :; do sleep 1; done`)
		p, _ := k.start(s)
		list := pids(t, k.ws, 2)
		polltest.Until(t, "temp", func() bool { b, _ := os.ReadFile(filepath.Join(k.ws, "temp")); return len(b) > 0 })
		temp, _ := os.ReadFile(filepath.Join(k.ws, "temp"))
		k.box.Close()
		polltest.Until(t, "the end of the command", closed(p.Done()))
		for _, pid := range list {
			if alive(pid) {
				t.Errorf("process %d still runs, want it ended", pid)
			}
		}
		if _, err := os.Stat(strings.TrimSpace(string(temp))); !os.IsNotExist(err) {
			t.Errorf("the private temporary folder: got error %v, want that it is deleted", err)
		}
		if _, err := k.box.Start(k.spec("true")); err == nil {
			t.Error("a closed box starts commands")
		}
	})
}
