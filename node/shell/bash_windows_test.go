package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestWindowsBashReturnsWhatCmdPrints(t *testing.T) {
	for _, mode := range windowsModes {
		b := cmdExe(t, mode)
		for _, c := range []struct {
			command, output string
			code            int
		}{
			{"echo hello", "hello\r\n", 0},
			{`echo "a  b" c`, "\"a  b\" c\r\n", 0},
			{"echo out& echo err 1>&2& echo out2& exit 3", "out\r\nerr \r\nout2\r\n", 3},
			{"set /p x=& exit 0", "", 0}, // nothing to read
			{"cd", b.WS.Dir() + "\r\n", 0},
			{"echo %FAIRLEAD%", "1\r\n", 0},
		} {
			t.Run(c.command, func(t *testing.T) {
				m := tooltest.Must[map[string]any](b.Bench, "Bash", tooltest.Args{"command": c.command})
				status := "completed"
				if c.code != 0 {
					status = "failed"
				}
				if m["output"] != c.output || m["exitCode"] != float64(c.code) || m["status"] != status || m["signal"] != nil || m["timedOut"] != false {
					t.Errorf(`%q %s: got %v; want output %q, exit code %d, status %v, no signal and no timeout`, mode, c.command, m, c.output, c.code, status)
				}
			})
		}
	}
}

func TestWindowsTimeoutEndsTheTree(t *testing.T) {
	for _, mode := range windowsModes[1:] {
		b := cmdExe(t, mode)
		var out bashOut
		for limit := 3000; limit < 60_000 && !strings.HasPrefix(out.Output, "begun"); limit *= 4 { // cmd.exe may take longer than that to start, and linger ends after a minute
			out = tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"timeout": limit, "command": "echo begun& start /b " + linger(t) + " & " + linger(t)})
			if !out.TimedOut || out.Status != "failed" || out.OutputStillOpen {
				t.Errorf(`%q: got %+v; want TimedOut, Status "failed" and not OutputStillOpen`, mode, out)
			}
		}
		if !strings.HasPrefix(out.Output, "begun") {
			t.Errorf(`%q: got %+v; want a Output that begins with "begun"`, mode, out)
		}
	}
}

func TestWindowsBackgroundCommandsGetInput(t *testing.T) {
	for _, mode := range windowsModes {
		b := cmdExe(t, mode)
		start := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": `set /p x=& call echo got %x%`, "background": true})
		if start.Status != "running" || start.PID == 0 {
			t.Fatalf(`got %+v; want Status "running" and PID other than 0`, start)
		}
		call := func(action string, more tooltest.Args) map[string]any {
			a := tooltest.Args{"action": action, "sessionId": start.SessionID}
			for k, v := range more {
				a[k] = v
			}
			return tooltest.Must[map[string]any](b.Bench, "Process", a)
		}
		if m := call("submit", tooltest.Args{"data": "word"}); m["status"] != "running" || m["bytesWritten"] == nil {
			t.Errorf(`got %v; want m["status"] "running" and a m["bytesWritten"]`, m)
		}
		wait(t.Context(), b.jobs.get(start.SessionID), 3*time.Minute, nil)
		if m := call("poll", nil); m["status"] != "completed" || !strings.Contains(m["tail"].(string), "got word") {
			t.Errorf(`%q: got %v; want m["status"] "completed" and "got word" in m["tail"]`, mode, m)
		}
		if m := call("write", tooltest.Args{"data": "x"}); !strings.Contains(fmt.Sprint(m["error"]), "already exited") {
			t.Errorf(`got %v; want "already exited" in m["error"]`, m)
		}
	}
}

// Wine does not give a program the handles of its pseudo console, as Windows does, so the command
// opens the console itself.
func TestWindowsTerminalGetsInputAndIsResized(t *testing.T) {
	for _, mode := range windowsModes {
		b := cmdExe(t, mode)
		start := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": `echo ready>CON& set /p x=<CON& call echo got %x%>CON& exit 7`, "background": true, "pty": true})
		id := start.SessionID
		j := b.jobs.get(id)
		prints := func(part string) {
			t.Helper()
			for end := time.Now().Add(3 * time.Minute); !strings.Contains(j.out.tail(), part); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%q: no %q in %q", mode, part, j.out.tail())
				}
			}
		}
		prints("ready")
		out, err := tooltest.Call[map[string]any](b.Bench, "Process", tooltest.Args{"action": "resize", "sessionId": id, "cols": 77, "rows": 33})
		if err != nil && !strings.HasSuffix(err.Error(), "Not implemented.") || err == nil && out["cols"] != 77.0 { // by Wine 8
			t.Errorf(`%q: got %v %v; want either no error or an error that ends with "Not implemented." and either an error or out["cols"] 77.0`, mode, out, err)
		}
		tooltest.Must[map[string]any](b.Bench, "Process", tooltest.Args{"action": "submit", "sessionId": id, "data": "word"})
		prints("got word")
		wait(t.Context(), j, 3*time.Minute, nil)
		if out := tooltest.Must[map[string]any](b.Bench, "Process", tooltest.Args{"action": "poll", "sessionId": id}); out["exitCode"] != 7.0 || out["running"] != false {
			t.Errorf(`%q: got %+v; want out["exitCode"] 7.0 and not out["running"]`, mode, out)
		}
		out = tooltest.Must[map[string]any](b.Bench, "Process", tooltest.Args{"action": "resize", "sessionId": id, "cols": 77, "rows": 33})
		if !strings.Contains(fmt.Sprint(out["error"]), "already exited") {
			t.Errorf(`%q: got %+v; want "already exited" in out["error"]`, mode, out)
		}
	}
}

func TestWindowsKillEndsTheTree(t *testing.T) {
	for _, mode := range windowsModes[1:] {
		b := cmdExe(t, mode)
		start := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": "start /b " + linger(t) + " & " + linger(t), "background": true})
		j := b.jobs.get(start.SessionID)
		tooltest.Must[map[string]any](b.Bench, "Process", tooltest.Args{"action": "kill", "sessionId": start.SessionID})
		if !waitAll(40*time.Second, j.done, j.child.Done()) {
			t.Errorf("%q: something runs on, want everything ended within 40 s", mode)
		}
		if m := tooltest.Must[map[string]any](b.Bench, "Process", tooltest.Args{"action": "poll", "sessionId": start.SessionID}); m["status"] != "failed" || m["running"] != false {
			t.Errorf(`%q: got %+v; want m["status"] "failed" and not m["running"]`, mode, m)
		}
	}
}

func TestWindowsCommandsHaveNoPrivileges(t *testing.T) {
	b := cmdExe(t, sandbox.WorkspaceWrite)
	c := b.jobs.confinement.box.Report().Check(sandbox.CheckPrivs)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := tooltest.Must[bashOut](b.Bench, "Bash", tooltest.Args{"command": `"` + exe + `" __sandbox privileges`})
	if (out.Status == "completed") != c.Enforced || out.Enforced != notEnforced {
		t.Errorf("got %+v, and the report says %+v; want the same", out, c)
	}
	if !c.Enforced {
		t.Errorf("got %+v, want it enforced", c)
	}
	if _, err := runBash(t.Context(), b.WS, b.jobs, access.Call{}, bashIn{Command: "curl x"}); err == nil || !strings.Contains(err.Error(), "network is blocked") {
		t.Errorf(`got %v; want an error with "network is blocked"`, err)
	}
}

// holdVar makes the test program a node that starts a command and waits to be killed.
const holdVar = "TOOLS_TEST_HOLD"

func init() {
	dir := os.Getenv(holdVar)
	if dir == "" || len(os.Args) > 1 && os.Args[1] == "__sandbox" {
		return
	}
	ws, err := workspace.Open(dir)
	if err != nil {
		panic(err)
	}
	box, err := sandbox.New(context.Background(), sandbox.Options{})
	if err != nil {
		panic(err)
	}
	jobs := NewJobs(JobOptions{Box: box, RecordDir: filepath.Join(dir, "ledger")})
	out, err := runBash(context.Background(), ws, jobs, access.Call{}, bashIn{Command: os.Getenv("TOOLS_TEST_COMMAND"), Background: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(out.SessionID)
	select {}
}

func TestWindowsCommandsEndWithTheNode(t *testing.T) {
	dir := tooltest.Folder(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command(exe)
	node.Env = append(os.Environ(), holdVar+"="+dir, "TOOLS_TEST_COMMAND="+linger(t), "SHELL="+filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe"))
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	id = strings.TrimSpace(id)
	data, err := os.ReadFile(filepath.Join(dir, "ledger", id+recordSuffix))
	if err != nil {
		t.Fatal(err)
	}
	var e record
	if err := json.Unmarshal(data, &e); err != nil || !e.Command.isRunning() || !e.Node.isRunning() {
		t.Fatalf("got %s %v; want no error, Command.isRunning and Node.isRunning", data, err)
	}
	node.Process.Kill()
	node.Wait()
	for end := time.Now().Add(3 * time.Minute); e.Command.isRunning(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the command outlived its node")
		}
	}
	ws, err := workspace.Open(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var said []protocol.NodeExecEvent
	jobs := NewJobs(JobOptions{RecordDir: filepath.Join(dir, "ledger"), Events: func(e protocol.NodeExecEvent) { said = append(said, e) }})
	defer jobs.Close()
	left := jobs.Recover(t.Context())
	if len(left) != 1 || left[0].SessionID != id || left[0].WasRunning || len(said) != 1 || said[0].SessionID != id || said[0].Event != "failed" {
		t.Errorf(`got %+v %+v; want length 1, left[0].SessionID %v, not left[0].WasRunning, length 1, said[0].SessionID %v and said[0].Event "failed"`, left, said, id, id)
	}
}

func TestWindowsShellsGetTheirOwnCommandLines(t *testing.T) {
	for _, c := range []struct{ shell, line, args string }{
		{`C:\Windows\System32\cmd.exe`, `"C:\Windows\System32\cmd.exe" /d /s /c "echo "x y" & dir"`, "/d /s /c"},
		{`C:\Program Files\PowerShell\7\pwsh.exe`, "", "-NoLogo -NoProfile -NonInteractive -Command"},
		{`C:\Program Files\Git\bin\bash.exe`, "", "-lc"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			const command = `echo "x y" & dir`
			if got := shellLine(c.shell, command); got != c.line {
				t.Errorf("got %s, want %v", got, c.line)
			}
			words := shellArgs(c.shell, command, `C:\work`)
			if words[0] != c.shell || strings.Join(words[1:len(words)-1], " ") != c.args || !strings.Contains(words[len(words)-1], command) {
				t.Errorf("got %q; want words[0] %v, words %v and %v in the last of words", words, c.shell, c.args, command)
			}
		})
	}
	t.Setenv("SHELL", "/usr/bin/bash") // as Git's terminal has it
	if s := Path(); !filepath.IsAbs(s) || strings.HasSuffix(s, "bash") {
		t.Errorf(`got %v; want an absolute s and a text that does not end with "bash"`, s)
	}
}
