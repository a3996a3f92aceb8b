//go:build unix

package shell

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead/node/tooltest"
)

type processOut struct {
	Status, SessionID, Error, Log, Tail, Signal, Text, Message string
	ExitCode                                                   *int
	Running, TimedOut, Truncated                               bool
	TotalLines, TotalChars, BytesWritten                       int
	Sessions                                                   []struct{ SessionID, Status, Command, Workdir string }
}

// background starts a command and returns its session. A short command may have ended before.
func background(b *bench, command string, more tooltest.Args) string {
	b.T.Helper()
	a := tooltest.Args{"command": command, "background": true}
	for k, v := range more {
		a[k] = v
	}
	m := tooltest.Must[map[string]any](b.Bench, "Bash", a)
	if m["endedAt"] != nil {
		return m["sessionId"].(string)
	}
	if m["status"] != "running" || m["pid"] == nil || m["tail"] == nil || m["workdir"] != b.WS.Dir() || m["startedAt"] == nil {
		b.T.Fatalf(`got %v; want m["status"] "running", m["pid"] set, m["tail"] set, m["workdir"] %v and m["startedAt"] set`, m, b.WS.Dir())
	}
	for _, field := range []string{"exitCode", "signal", "output", "endedAt"} {
		if _, ok := m[field]; ok {
			b.T.Errorf("a running command has %s", field)
		}
	}
	return m["sessionId"].(string)
}

// end waits for a job's end and polls it.
func end(b *bench, id string) processOut {
	b.T.Helper()
	select {
	case <-b.jobs.get(id).done:
	case <-time.After(3 * time.Minute):
		b.T.Fatal("the command does not end")
	}
	return tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "poll", "sessionId": id})
}

// waitForOutput waits until a job's output is as wanted.
func waitForOutput(b *bench, id string, wanted func(string) bool) string {
	b.T.Helper()
	s := ""
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if s = b.jobs.get(id).out.tail(); wanted(s) {
			return s
		}
	}
	b.T.Fatalf("it printed %q", s)
	return ""
}

func TestBackgroundCommandsGetInput(t *testing.T) {
	useShell(t)
	b := newBench(t)
	id := background(b, `while read x; do echo "got $x"; [ "$x" = quit ] && exit 4; done`, nil)
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "poll", "sessionId": id}); !out.Running || out.Status != "running" || out.ExitCode != nil {
		t.Errorf(`got %+v; want Running, Status "running" and no ExitCode`, out)
	}
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "write", "sessionId": id, "data": "he"}); out.BytesWritten != 2 || out.Status != "running" {
		t.Errorf(`got %+v; want BytesWritten 2 and Status "running"`, out)
	}
	tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": " Submit ", "sessionId": id, "data": "llo"})
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "submit", "sessionId": id, "data": "quit"}); out.BytesWritten != 5 {
		t.Errorf("got %+v; want BytesWritten 5", out)
	}
	if out := end(b, id); out.Status != "failed" || out.Running || out.ExitCode == nil || *out.ExitCode != 4 || out.Tail != "got hello\ngot quit\n" {
		t.Errorf(`got %+v; want Status "failed", not Running, ExitCode 4 and Tail "got hello\ngot quit\n"`, out)
	}
	for _, action := range []string{"write", "submit", "kill"} {
		if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": action, "sessionId": id, "data": "x"}); out.Status != "failed" || out.Error != "Session "+id+" has already exited" {
			t.Errorf(`%s: got %+v; want Status "failed" and Error %q`, action, out, "Session "+id+" has already exited")
		}
	}
}

func TestProcessListsNewestFirstAndOnlyBackground(t *testing.T) {
	useShell(t)
	b := newBench(t)
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "list"}); out.Status != "completed" || len(out.Sessions) != 0 || out.Text == "" {
		t.Errorf(`got %+v; want Status "completed", no Sessions and some Text`, out)
	}
	tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "true"})
	first := background(b, "sleep 999", nil)
	second := background(b, "true", nil)
	end(b, second)
	out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "list"})
	if len(out.Sessions) != 2 || out.Sessions[0].SessionID != second || out.Sessions[0].Status != "completed" ||
		out.Sessions[1].SessionID != first || out.Sessions[1].Status != "running" || out.Sessions[1].Command != "sleep 999" {
		t.Errorf("got %+v; want the completed command, then the running one", out.Sessions)
	}
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "kill", "sessionId": first}); out.Status != "running" || out.SessionID != first || out.Message == "" {
		t.Errorf(`got %+v; want Status "running", SessionID %v and some Message`, out, first)
	}
	if out := end(b, first); out.Status != "failed" || out.Signal != "SIGKILL" || out.ExitCode != nil {
		t.Errorf(`got %+v; want Status "failed", Signal "SIGKILL" and no ExitCode`, out)
	}
}

func TestProcessPagesTheLog(t *testing.T) {
	useShell(t)
	b := newBench(t)
	id := background(b, "for i in $(seq 300); do echo \"é$i\"; done", nil)
	end(b, id)
	for _, c := range []struct {
		a           tooltest.Args
		first, last string
		lines       int
	}{
		{nil, "é1", "é200", 200},
		{tooltest.Args{"offset": 298}, "é299", "é300", 2},
		{tooltest.Args{"offset": 9, "limit": 3}, "é10", "é12", 3},
		{tooltest.Args{"limit": 0}, "é1", "é1", 1},
		{tooltest.Args{"offset": 300}, "", "", 1},
		{tooltest.Args{"offset": 1e12}, "", "", 1},
	} {
		a := tooltest.Args{"action": "log", "sessionId": id}
		for k, v := range c.a {
			a[k] = v
		}
		out := tooltest.Must[processOut](b.Bench, "Process", a)
		lines := strings.Split(out.Log, "\n")
		if lines[0] != c.first || lines[len(lines)-1] != c.last || len(lines) != c.lines || out.TotalLines != 300 || out.TotalChars != 300*2+9+2*90+3*201 || out.Truncated {
			t.Errorf("%v: %d lines, %q to %q, %d of %d; want %d, %q, %q, 300 and %d", c.a, len(lines), lines[0], lines[len(lines)-1], out.TotalLines, out.TotalChars, c.lines, c.first, c.last, 300*2+9+2*90+3*201)
		}
	}
	quiet := background(b, "true", nil)
	end(b, quiet)
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "log", "sessionId": quiet}); out.Log != "(no output)" || out.TotalLines != 0 {
		t.Errorf(`got %+v; want Log "(no output)" and TotalLines 0`, out)
	}
}

func TestLinesKeepTheirNumbersWhenTheHeadIsLost(t *testing.T) {
	useShell(t)
	b := newBench(t)
	id := background(b, "seq 100000; printf unfinished", nil) // 588,895 characters and 10
	end(b, id)
	type page struct {
		Log                                                   string
		Offset, TotalLines, TotalChars, TotalBytes, FirstLine int
		Truncated                                             bool
	}
	log := func(offset, limit int) page {
		return tooltest.Must[page](b.Bench, "Process", tooltest.Args{"action": "log", "sessionId": id, "offset": offset, "limit": limit})
	}
	for _, c := range []struct {
		offset, limit, from int
		want                string
	}{
		{99_000, 2, 99_000, "99001\n99002"},
		{99_999, 200, 99_999, "100000\nunfinished"},
		{100_001, 5, 100_001, ""},
		{500_000, 5, 100_001, ""},
	} {
		p := log(c.offset, c.limit)
		if p.Log != c.want || p.Offset != c.from || p.TotalLines != 100_001 || p.TotalChars != maxOutput || p.TotalBytes != 588_905 || !p.Truncated {
			t.Errorf("%+v: got %+v; want Log %v, Offset %v, TotalLines 100_001, TotalChars %v, TotalBytes 588_905 and Truncated", c, p, c.want, c.from, maxOutput)
		}
	}
	p := log(0, 3) // lost, so the first remaining line comes
	lines := strings.Split(p.Log, "\n")
	if p.FirstLine == 0 || p.Offset != p.FirstLine || len(lines) != 3 || lines[1] != strconv.Itoa(p.FirstLine+2) || !strings.HasSuffix(strconv.Itoa(p.FirstLine+1), lines[0]) {
		t.Errorf("got %+v; want three lines from the first that remains", p)
	}
}

func TestFloodOfOutputUsesLittleMemory(t *testing.T) {
	useShell(t)
	b := newBench(t)
	id := background(b, "yes", nil)
	j := b.jobs.get(id)
	for end := time.Now().Add(3 * time.Minute); j.out.size() < 20<<20 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := j.out.bufferSize(); n > 1_000_000 || j.out.size() < 20<<20 {
		t.Errorf("%d bytes are held of %d, want at most 1,000,000 of 20 MiB", n, j.out.size())
	}
	tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "kill", "sessionId": id})
	if out := end(b, id); len(out.Tail) != maxTail || out.Signal != "SIGKILL" {
		t.Errorf(`got %+v; want Tail of length %v and Signal "SIGKILL"`, out, maxTail)
	}
	if j.out.bufferSize() > retained {
		t.Errorf("%d bytes are held at the end, want at most %d", j.out.bufferSize(), retained)
	}
}

func TestClosedInputIsReported(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		id := background(b, "exec 0<&-; echo closed; sleep 999", nil)
		waitForOutput(b, id, func(s string) bool { return s == "closed\n" })
		for _, action := range []string{"write", "submit"} {
			if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": action, "sessionId": id, "data": "x"}); out.Error != "Session "+id+" stdin is not writable" || out.Status != "failed" {
				t.Errorf(`%s: got %+v; want Error %q and Status "failed"`, action, out, "Session "+id+" stdin is not writable")
			}
		}
	})
}

func TestProcessRefusesInTheOriginalsWords(t *testing.T) {
	useShell(t)
	b := newBench(t)
	for _, action := range []string{"poll", "log", "write", "submit", "kill"} {
		t.Run(action, func(t *testing.T) {
			if words := tooltest.MustFail(b.Bench, "Process", tooltest.Args{"action": action}); words != "sessionId is required for this action" {
				t.Errorf("%s: got %s, want %q", action, words, "sessionId is required for this action")
			}
			if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": action, "sessionId": "x"}); out.Status != "failed" || out.Error != "No session found for x" {
				t.Errorf(`%s: got %+v; want Status "failed" and Error "No session found for x"`, action, out)
			}
		})
	}
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "dance", "sessionId": "x"}); out.Error != "Unknown action dance" {
		t.Errorf(`got %+v; want Error "Unknown action dance"`, out)
	}
	id := background(b, "sleep 999", nil)
	b.jobs.get(id).background.Store(false)
	if out := tooltest.Must[processOut](b.Bench, "Process", tooltest.Args{"action": "poll", "sessionId": id}); out.Error != "Session "+id+" is not backgrounded" {
		t.Errorf("got %+v; want Error %q", out, "Session "+id+" is not backgrounded")
	}
}

func TestAListOfVeryManyLongCommandsFitsIntoAResult(t *testing.T) {
	useShell(t)
	b := newBench(t)
	const n = 40
	long := strings.Repeat("x", 120_000)
	for range n {
		background(b, "true "+long, nil)
	}
	raw := tooltest.Must[json.RawMessage](b.Bench, "Process", tooltest.Args{"action": "list"})
	var out struct {
		processOut
		Omitted int
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	if len(raw) > maxListBytes+1000 || out.Omitted == 0 || out.Omitted+len(out.Sessions) != n {
		t.Errorf("got %d bytes, %d listed and %d omitted, want at most the limit and all of them counted", len(raw), len(out.Sessions), out.Omitted)
	}
	if want := fmt.Sprintf("%d older commands are left out", out.Omitted); !strings.Contains(out.Text, want) {
		t.Errorf("the text does not say %q", want)
	}
}
