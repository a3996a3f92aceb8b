package sandbox_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/node/sandbox"
)

// leave are ways for a command to leave a process running; %s is a program that writes its number
// to a file and then sleeps.
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
				polltest.Until(t, "the end of the tree", closed(p.Done()))
				if pid := pids(t, k.ws, 1)[0]; alive(pid) {
					t.Errorf("process %d still runs, want it ended", pid)
				}
				if got := p.KilledCount(); got != 1 {
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

// A shell does not wait for the program at the end of >(...), which ends by itself when it has read
// everything.
func TestAProcessThatEndsByItselfIsNotEnded(t *testing.T) {
	k := newKit(t)
	s := k.spec("")
	s.Argv = []string{need(t, "bash"), "-c", `echo text > >(cat >copy)`}
	// Other programs may delay it by more than SettleTime: one success is enough.
	for end := time.Now().Add(time.Minute); ; {
		p, _ := k.start(s)
		polltest.Until(t, "the end of the tree", closed(p.Done()))
		data, err := os.ReadFile(filepath.Join(k.ws, "copy"))
		killed := p.KilledCount()
		if string(data) == "text\n" && killed == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got copy %q, error %v and %d ended processes, want the text and 0", data, err, killed)
		}
	}
}

func TestProcessesGetTheGraceBeforeTheyAreKilled(t *testing.T) {
	k := newKit(t)
	p, _ := k.start(k.spec(`(trap 'echo asked >asked; exit' TERM; echo $$ >pid0; while :; do sleep 0.01; done) & while ! test -s pid0; do sleep 0.01; done`))
	polltest.Until(t, "the end of the tree", closed(p.Done()))
	if _, err := os.Stat(filepath.Join(k.ws, "asked")); err != nil {
		t.Errorf("the file that the process writes at SIGTERM: got error %v, want none", err)
	}
}

func TestProcessesOfACommandAreListed(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		p, _ := k.start(k.spec(strayCommand("pid0") + "sleep 999 & echo $! >pid1; echo $$ >pid2; wait"))
		want := pids(t, k.ws, 3)
		other, _ := k.start(k.spec("exec sleep 999"))
		slices.Sort(want)
		list := func(p *sandbox.Process) []int { return slices.Sorted(slices.Values(p.Processes())) }
		polltest.Until(t, "the list of the processes", func() bool { return slices.Equal(list(p), want) })
		if got, want := list(other), []int{other.PID()}; !slices.Equal(got, want) {
			t.Errorf("got processes %v of the other command, want %v", got, want)
		}
		p.Kill()
		other.Kill()
		polltest.Until(t, "the end of the tree", closed(p.Done()))
		if got := p.Processes(); len(got) != 0 {
			t.Errorf("got processes %v after the end, want none", got)
		}
		if got := p.KilledCount(); got < 2 {
			t.Errorf("got %d ended processes, want at least 2", got)
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
	polltest.Until(t, "the end of the tree", closed(p.Done()))
	if i := slices.IndexFunc(list, alive); i >= 0 {
		t.Errorf("process %d still runs, want it ended", list[i])
	}
	if got := p.KilledCount(); len(list) != many || got != many {
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
		polltest.Until(t, "the end of the chain", closed(p.Done()))
		last := func() string { b, _ := os.ReadFile(filepath.Join(k.ws, "last")); return string(b) }
		before := last()
		time.Sleep(100 * time.Millisecond)
		if now := last(); now != before || p.KilledCount() == 0 {
			t.Errorf("got process %q after %q and %d ended, want an end of the chain", now, before, p.KilledCount())
		}
	})
}
