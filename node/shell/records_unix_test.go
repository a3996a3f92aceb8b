//go:build linux || darwin

package shell

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// ledgerBench is a bench with a ledger; events are what it reports.
func ledgerBench(t *testing.T, dir string) (b *bench, said chan protocol.NodeExecEvent) {
	t.Helper()
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	said = make(chan protocol.NodeExecEvent, 16)
	return benchOf(t, ws, JobOptions{RecordDir: dir, Events: func(e protocol.NodeExecEvent) { said <- e }}), said
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, strings.TrimSuffix(e.Name(), recordSuffix))
	}
	return names
}

func TestRecordsHoldRunningCommandsOnly(t *testing.T) {
	useShell(t)
	dir := filepath.Join(t.TempDir(), "a", "ledger")
	b, said := ledgerBench(t, dir)
	id := background(b, "read line; echo secret", nil)
	tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "true"})
	// A command is removed after its answer.
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if got := entries(t, dir); len(got) == 1 && got[0] == id {
			break
		} else if time.Now().After(end) {
			t.Fatalf("got %v, want %s", got, id)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, id+recordSuffix)); err != nil || strings.Contains(string(data), "secret") {
		t.Errorf(`got %s, %v; want no error and no "secret"`, data, err)
	}
	if left := b.jobs.Recover(t.Context()); left != nil || !b.jobs.get(id).isRunning() {
		t.Errorf("commands of a running node: recovered %v, want none", left)
	}
	tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "submit", "sessionId": id})
	<-said // that it started
	if e := <-said; e.SessionID != id || len(entries(t, dir)) != 1 {
		t.Errorf("got %+v and the records %v, want the end reported and still recorded", e, entries(t, dir))
	}
	b.jobs.Confirm(id)
	if got := entries(t, dir); len(got) != 0 {
		t.Errorf("%v stayed, want none", got)
	}
}

// The commands of a dead node: one still runs and obeys SIGTERM, one ignores it, one has ended, and
// one's number belongs to another process now.
func TestCommandsOfADeadNodeAreStoppedAndReported(t *testing.T) {
	dir := t.TempDir()
	dead := processIdentity{os.Getpid(), "another time"}
	group := func(script string) (b processIdentity, ended <-chan error) {
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		return identify(cmd.Process.Pid), done
	}
	mild, mildEnded := group("echo; sleep 999 & wait")
	wild, wildEnded := group("trap '' TERM; echo; while :; do sleep 1; done")
	other, otherEnded := group("echo; exec sleep 999")
	for id, e := range map[string]record{
		"mild": {dead, mild, 1000, true, "c1", nil}, "wild": {dead, wild, 2000, false, "", nil}, "gone": {dead, processIdentity{1 << 29, "long ago"}, 3000, true, "", nil},
		"reused": {dead, processIdentity{other.PID, "long ago"}, 4000, false, "", nil}, "mine": {identify(os.Getpid()), other, 5000, true, "", nil},
	} {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, id+recordSuffix), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(dir, "cut"+recordSuffix), []byte(`{"node":`), 0o600)
	b, events := ledgerBench(t, dir)
	alive := map[string]bool{}
	for _, l := range b.jobs.Recover(t.Context()) {
		alive[l.SessionID] = l.WasRunning
	}
	if len(alive) != 4 || !alive["mild"] || !alive["wild"] || alive["gone"] || alive["reused"] {
		t.Errorf(`got %v; want length 4, alive["mild"], alive["wild"], not alive["gone"] and not alive["reused"]`, alive)
	}
	for name, c := range map[string]<-chan error{"mild": mildEnded, "wild": wildEnded} {
		t.Run(name, func(t *testing.T) {
			select {
			case <-c:
			case <-time.After(3 * time.Minute):
				t.Errorf("%s runs on, want its end within 3 minutes", name)
			}
		})
	}
	if !other.isRunning() {
		t.Error("a process that has nothing to do with it was ended")
	}
	syscall.Kill(-other.PID, syscall.SIGKILL)
	<-otherEnded
	said := map[string]bool{}
	for len(events) > 0 {
		e := <-events
		said[e.SessionID] = e.Event == "failed" && e.StartedAt > 0 && e.EndedAt > e.StartedAt && strings.Contains(e.OutputTail, "node ended")
	}
	if len(said) != 2 || !said["mild"] || !said["gone"] {
		t.Errorf(`reported: got %v; want length 2, said["mild"] and said["gone"]`, said)
	}
	for id := range said {
		b.jobs.Confirm(id)
	}
	if got := entries(t, dir); len(got) != 1 || got[0] != "mine" {
		t.Errorf("got the records %v, want mine", got)
	}
}
