package sandbox_test

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/node/sandbox"
)

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
		polltest.Until(t, "nothing left", func() bool {
			f, th, r := count()
			return f <= fds && th <= threads+6 && r <= routines
		})
		if kids, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", helper, helper)); len(kids) != 0 {
			t.Errorf("children of the helper: got %s, want none", kids)
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
		t.Fatalf("children of the node: got %v, want 1", kids)
	}
	pid, _ := strconv.Atoi(kids[0])
	return pid
}

// own returns a process's own memory in MB, without the part shared with its program file, of which
// the system maps as much as it likes.
func own(pid int) int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	f := strings.Fields(string(data))
	if len(f) < 3 {
		return 0
	}
	pages, _ := strconv.Atoi(f[1])
	shared, _ := strconv.Atoi(f[2])
	return (pages - shared) * os.Getpagesize() >> 20
}

func TestAFloodOfOutputCostsTheHelperNothing(t *testing.T) {
	k := newKit(t)
	p, out := k.start(k.spec("yes | head -c 256M"))
	helper := helperOf(t)
	before := own(helper)
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out}, make([]byte, 256<<10))
	if err != nil || n != 256<<20 {
		t.Fatalf("got %v, %v; want no error and 256 << 20", n, err)
	}
	if e, err := p.Wait(); err != nil || e.Code != 0 {
		t.Fatalf("got %v, %v; want no error and Code 0", e, err)
	}
	if after := own(helper); after > before+4 {
		t.Errorf("the helper grew from %d to %d MB, want at most %d", before, after, before+4)
	}
	t.Logf("the helper takes %d MB", own(helper))
}

func init() {
	// bomb runs a fork bomb in a box and reports how many processes it reached.
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
		p, err := box.Start(sandbox.Spec{ // shells end when they cannot fork any more; what sleeps stays, and is counted
			Profile: sandbox.Profile{Workspace: ws}, Argv: []string{"/bin/sh", "-c", "f() { sleep 999 & f | f & }; f; sleep 999"},
			Dir: ws, Env: sandbox.Environ(ws, nil),
		})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		most := 0
		// A busy machine may be unresponsive for longer than the time that suffices on others.
		for end, late := time.Now().Add(400*time.Millisecond), time.Now().Add(patience); time.Now().Before(end) || most < 20 && time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
			most = max(most, countOwnProcesses())
		}
		begin := time.Now()
		p.Kill()
		select {
		case <-p.Done():
		case <-time.After(3 * time.Minute):
			fmt.Println("the bomb goes on:", countOwnProcesses())
			return 1
		}
		fmt.Println(most, time.Since(begin).Milliseconds())
		return 0
	}
}

// countOwnProcesses counts the user's processes.
func countOwnProcesses() (n int) {
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
		if most < 20 || most > 5000 {
			t.Errorf("got %d processes; want most at least 20 and most at most 5000", most)
		}
	})
}
