package sandbox_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox"
)

func TestExitIsTheCommandsOwn(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for script, want := range map[string]sandbox.Exit{
			"exit 0": {}, "exit 42": {Code: 42}, "kill -9 $$": {Code: -1, Signal: "SIGKILL"}, "kill -TERM $$": {Code: -1, Signal: "SIGTERM"},
		} {
			for _, mode := range []sandbox.Mode{sandbox.Full, sandbox.WorkspaceWrite} {
				s := k.spec(script)
				s.Profile.Mode = mode
				if _, e := k.run(s); e != want {
					t.Errorf("%s (%s): %+v, want %+v", script, mode, e, want)
				}
			}
		}
		s := k.spec("")
		s.Argv = []string{"/no/such/program"}
		if _, err := k.box.Start(s); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a program that is not there: %v", err)
		}
		s = k.spec("true")
		s.Dir = filepath.Join(k.ws, "nowhere")
		if _, err := k.box.Start(s); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a folder that is not there: %v", err)
		}
		s = k.spec("true")
		s.Argv[2] = strings.Repeat("x", 200<<10)
		if _, err := k.box.Start(s); !errors.Is(err, unix.E2BIG) {
			t.Errorf("an argument that is too long: %v", err)
		}
		s = k.spec("head -c 5; echo .; wc -c <<EOF\n" + strings.Repeat("y", 100<<10) + "\nEOF")
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		io.WriteString(w, "\xff\xfe\x00in")
		w.Close()
		s.Stdin = in
		if out, e := k.run(s); e.Code != 0 || out != "\xff\xfe\x00in.\n102401" {
			t.Errorf("bytes in and out and a long command: %q, %+v", out, e)
		}
	})
}

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
			script.WriteString(`trap "" TERM; sleep 60 & echo $! >pids/pida; echo $$ >pids/pidb; wait`)
			s := k.spec(script.String())
			s.Profile.Mode = mode
			other, _ := k.start(k.spec("sleep 60"))
			p, _ := k.start(s)
			list := pids(t, dir, 5)
			p.Kill()
			within(t, time.Second, "the end of the tree", closed(p.Done()))
			for _, pid := range list {
				if alive(pid) {
					t.Errorf("%s: process %d is still there", mode, pid)
				}
			}
			if !alive(other.PID()) {
				t.Errorf("%s: another command was ended too", mode)
			}
			other.Kill()
			within(t, time.Second, "the end of the other", closed(other.Done()))
		}
	})
}

func TestTerminateReachesTheWholeTree(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		s := k.spec(stray("pid0") + `sleep 60 & echo $! >pid1; wait`)
		s.Supervise = true
		p, _ := k.start(s)
		list := pids(t, k.ws, 2)
		p.Terminate()
		within(t, time.Second, "the end of the tree", closed(p.Done()))
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

func TestLeftOversLiveOnOnlyWhenSupervised(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		for _, supervise := range []bool{false, true} {
			file := fmt.Sprint("pid", supervise)
			s := k.spec(stray(file) + "while ! test -s " + file + "; do sleep 0.01; done")
			s.Supervise = supervise
			p, err := k.box.Start(s)
			if err != nil {
				t.Fatal(err)
			}
			if e, err := p.Wait(); err != nil || e.Code != 0 {
				t.Fatal(e, err)
			}
			data, err := os.ReadFile(filepath.Join(k.ws, file))
			if err != nil {
				t.Fatal(err)
			}
			pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
			if supervise {
				if closed(p.Done())() || !alive(pid) {
					t.Errorf("supervised: done %v, alive %v", closed(p.Done())(), alive(pid))
				}
				p.Kill()
			}
			within(t, time.Second, "the end of the tree", closed(p.Done()))
			if alive(pid) {
				t.Errorf("supervise %v: process %d is still there", supervise, pid)
			}
		}
	})
}

// TestNobodyThrowsTheBadgeAway lowers the mark by which a session's processes are found and leaves the session.
func TestNobodyThrowsTheBadgeAway(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		python := need(t, "/usr/bin/python3")
		s := k.spec("")
		s.Supervise = true
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
		within(t, time.Second, "the end of the tree", closed(p.Done()))
		within(t, time.Second, "the end of who threw it away", func() bool { return !alive(pid) })
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
			script := fmt.Sprintf(`%s %s trap "" TERM; sleep 60 & echo $! >pid%sc; echo $$ >pid%sd; while :; do sleep 1; done`,
				stray(fmt.Sprintf("pid%sa", mode)), stray(fmt.Sprintf("pid%sb", mode)), mode, mode)
			if _, err := box.Start(sandbox.Spec{
				Profile: sandbox.Profile{Mode: mode, Workspace: ws}, Argv: []string{"/bin/sh", "-c", script}, Dir: ws,
				Env: sandbox.Environ(ws, nil), Supervise: true,
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
		ws := k.ws
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
		cmd.Process.Kill()
		took := within(t, time.Second, "the end of all", func() bool {
			for _, pid := range list {
				if alive(pid) {
					return false
				}
			}
			return true
		})
		cmd.Wait()
		// The shells ignore SIGTERM, so the grace must have been given.
		if took < sandbox.TermGrace-20*time.Millisecond || took > sandbox.TermGrace+150*time.Millisecond {
			t.Errorf("all gone after %v, want 250 to 400 ms", took)
		}
		t.Logf("8 processes gone after %v", took)
	})
}

func TestHelperThatWasKilledIsReplaced(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		p, _ := k.start(k.spec("sleep 60"))
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		helper, _ := strconv.Atoi(strings.Fields(string(stat))[3])
		if helper == os.Getpid() {
			t.Fatal("the command is the node's own child")
		}
		unix.Kill(helper, unix.SIGKILL)
		within(t, time.Second, "news of the command", closed(p.Done()))
		if _, err := p.Wait(); err == nil {
			t.Error("the command's end is told as if it were known")
		}
		within(t, time.Second, "the end of the command", func() bool { return !alive(p.PID()) })
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
		within(t, time.Second, "temp", func() bool { b, _ := os.ReadFile(filepath.Join(k.ws, "temp")); return len(b) > 0 })
		temp, _ := os.ReadFile(filepath.Join(k.ws, "temp"))
		k.box.Close()
		within(t, time.Second, "the end of the command", closed(p.Done()))
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

func TestPTYIsTheControllingTerminal(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
			t.Fatal(err)
		}
		n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
		if err != nil {
			t.Fatal(err)
		}
		slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := k.spec(`test -t 0 && echo one >/dev/tty && echo two >"$(tty)" && echo end`)
		s.Stdin, s.Stdout, s.Stderr, s.PTY = slave, slave, slave, true
		p, err := k.box.Start(s)
		slave.Close()
		if err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(master) // ends with EIO
		if e, err := p.Wait(); err != nil || e.Code != 0 {
			t.Errorf("%+v %v", e, err)
		}
		if got := strings.ReplaceAll(string(out), "\r", ""); got != "one\ntwo\nend\n" {
			t.Errorf("%q", got)
		}
	})
}

func TestManyCommandsLeaveNothingBehind(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		k.run(k.spec("true"))
		helper := helperOf(t)
		count := func() (fds, threads, goroutines int) {
			for _, pid := range []int{os.Getpid(), helper} {
				list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
				if err != nil {
					t.Fatal(err)
				}
				fds += len(list)
			}
			tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", helper))
			return fds, len(tasks), runtime.NumGoroutine()
		}
		fds, threads, routines := count()
		each := 50
		if k.missing != nil {
			each = 10 // it is slower
		}
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range each {
					s := k.spec(fmt.Sprintf("exit %d", i))
					if w%2 == 0 {
						s.Profile.Mode = sandbox.Full
					}
					p, err := k.box.Start(s)
					if err != nil {
						t.Error(err)
						return
					}
					if e, err := p.Wait(); err != nil || e.Code != i {
						t.Errorf("%+v %v, want %d", e, err, i)
					}
					<-p.Done()
				}
			})
		}
		wg.Wait()
		within(t, 2*time.Second, "nothing left", func() bool {
			f, th, r := count()
			return f <= fds && th <= threads+6 && r <= routines
		})
		if kids, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", helper, helper)); len(kids) != 0 {
			t.Errorf("children of the helper: %s", kids)
		}
	})
}

func helperOf(t *testing.T) int {
	t.Helper()
	tasks, _ := os.ReadDir("/proc/self/task")
	var kids []string
	for _, task := range tasks {
		data, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		kids = append(kids, strings.Fields(string(data))...)
	}
	if len(kids) != 1 {
		t.Fatalf("children of the node: %v", kids)
	}
	pid, _ := strconv.Atoi(kids[0])
	return pid
}

// rss is a process's memory in MB.
func rss(pid int) int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	f := strings.Fields(string(data))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(f[1])
	return pages * os.Getpagesize() >> 20
}

func TestAFloodOfOutputCostsTheHelperNothing(t *testing.T) {
	k := newKit(t)
	p, out := k.start(k.spec("yes | head -c 256M"))
	helper := helperOf(t)
	before := rss(helper)
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out}, make([]byte, 256<<10))
	if err != nil || n != 256<<20 {
		t.Fatal(n, err)
	}
	if e, err := p.Wait(); err != nil || e.Code != 0 {
		t.Fatal(e, err)
	}
	if after := rss(helper); after > before+4 {
		t.Errorf("the helper grew from %d to %d MB", before, after)
	}
	t.Logf("the helper takes %d MB", rss(helper))
}

func init() {
	// bomb runs a fork bomb in a box and reports how many processes it came to.
	plays["bomb"] = func() int {
		box, err := sandbox.New(tContext(), sandbox.Options{Missing: strings.Fields(os.Getenv("MISSING"))})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer box.Close()
		if r := box.Report(); r.Summary != sandbox.Contained || !r.Check(sandbox.CheckForks).Enforced {
			fmt.Println(r)
			return 1
		}
		ws, err := os.MkdirTemp("", "ws")
		if err != nil {
			fmt.Println(err)
			return 1
		}
		p, err := box.Start(sandbox.Spec{
			Profile: sandbox.Profile{Workspace: ws}, Argv: []string{"/bin/sh", "-c", "f() { f | f & }; f; sleep 60"},
			Dir: ws, Env: sandbox.Environ(ws, nil),
		})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		most := 0
		for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			most = max(most, mine())
		}
		begin := time.Now()
		p.Kill()
		select {
		case <-p.Done():
		case <-time.After(10 * time.Second):
			fmt.Println("the bomb goes on:", mine())
			return 1
		}
		fmt.Println(most, time.Since(begin).Milliseconds())
		return 0
	}
}

// mine counts the user's processes.
func mine() (n int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if info, err := e.Info(); err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == os.Getuid() {
			n++
		}
	}
	return n
}

func TestForkBombIsBounded(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		out, err := asNobody(t, "bomb", "MISSING="+strings.Join(k.missing, " ")).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var most, took int
		if _, err := fmt.Sscan(string(out), &most, &took); err != nil {
			t.Fatal(string(out))
		}
		t.Logf("the bomb came to %d processes and was gone %d ms after Kill", most, took)
		if most < 20 && !raceDetector || most > 5000 {
			t.Errorf("%d processes", most)
		}
	})
}
