//go:build unix

package shell

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func command(b *bench, a tooltest.Args) commandOut {
	b.T.Helper()
	return tooltest.Must[commandOut](b.Bench, "command", a)
}

// finish polls a command until it has ended, and returns all output.
func finish(b *bench, out commandOut) (text string, code int) {
	b.T.Helper()
	text = out.Output
	for end := time.Now().Add(3 * time.Minute); out.State != "exited"; {
		if time.Now().After(end) {
			b.T.Fatalf("the command does not end; so far %q", text)
		}
		out = command(b, tooltest.Args{"command_id": out.CommandID, "idle_timeout": 1})
		text += out.Output
	}
	if out.ExitCode == nil {
		b.T.Fatal("a command that has ended has no exit code")
	}
	return text, *out.ExitCode
}

// until reads the output of a command that goes on until it contains a text.
func until(b *bench, out commandOut, text string) commandOut {
	b.T.Helper()
	for end := time.Now().Add(3 * time.Minute); !strings.Contains(out.Output, text); {
		if time.Now().After(end) || out.State == "exited" {
			b.T.Fatalf("the command does not print %q: %+v", text, out)
		}
		before := out.Output
		out = command(b, tooltest.Args{"command_id": out.CommandID, "idle_timeout": 1})
		out.Output = before + out.Output
	}
	return out
}

func fault(b *bench, a tooltest.Args, code protocol.FaultCode, text string) {
	b.T.Helper()
	raw, _ := json.Marshal(a)
	_, err := b.Tools["command"].Call(b.T.Context(), access.Call{}, raw)
	f, _ := errors.AsType[*protocol.Fault](err)
	if f == nil || f.Code != code || !strings.Contains(f.Message, text) {
		b.T.Errorf("%v: got %v (%+v), want %s %q", a, err, f, code, text)
	}
}

func TestOneShotCommandEndsInOneCall(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		out := command(b, tooltest.Args{"command": "echo out; echo err >&2; exit 3", "idle_timeout": 60})
		if out.State != "exited" || out.ExitCode == nil || *out.ExitCode != 3 || out.Output != "out\nerr\n" || out.CommandID == "" || out.DurationMs < 0 {
			t.Errorf(`got %+v; want State "exited", ExitCode 3, Output "out\nerr\n", some CommandID and DurationMs at least 0`, out)
		}
		again := command(b, tooltest.Args{"command_id": out.CommandID})
		if raw, _ := json.Marshal(again); strings.Contains(string(raw), `"output"`) {
			t.Errorf("got %s, want no output", raw)
		}
		if again.State != "exited" || again.ExitCode == nil || again.Output != "" {
			t.Errorf("within the grace period: got %+v, want the exit code and no output", again)
		}
	})
}

func TestCommandRunsInTheHomeFolder(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		if out, _ := finish(b, command(b, tooltest.Args{"command": "pwd -P"})); strings.TrimSpace(out) != workspace.RealPath(os.Getenv("HOME")) {
			t.Errorf("ran in %s, want the home folder", out)
		}
		home, _ := os.UserHomeDir()
		for _, workdir := range []string{"", ".", "./"} {
			if out, _ := finish(b, command(b, tooltest.Args{"command": "pwd -P", "workdir": workdir})); strings.TrimSpace(out) != workspace.RealPath(home) {
				t.Errorf("workdir %q: got %q, want the home folder %s", workdir, out, home)
			}
		}
		if out, _ := finish(b, command(b, tooltest.Args{"command": "pwd", "workdir": b.WS.Dir()})); strings.TrimSpace(out) != b.WS.Dir() {
			t.Errorf("ran in %s, want the workspace", out)
		}
	})
}

func TestRunningCommandHasNoExitCode(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		out := command(b, tooltest.Args{"command": "echo one; read x; echo got $x", "idle_timeout": 0.3})
		out = until(b, out, "one\n")
		raw, _ := json.Marshal(out)
		if out.State != "running" || strings.Contains(string(raw), "exit_code") || out.Output != "one\n" {
			t.Errorf(`got %s; want State "running", no "exit_code" and Output "one\n"`, raw)
		}
		out = command(b, tooltest.Args{"command_id": out.CommandID, "command": "abc\n"})
		if text, code := finish(b, out); text != "got abc\n" || code != 0 {
			t.Errorf(`got %q, %d; want "got abc\n" and code 0`, text, code)
		}
	})
}

func TestZeroIdleTimeoutDoesNotWait(t *testing.T) {
	b := newBench(t)
	out := command(b, tooltest.Args{"command": "sleep 999", "idle_timeout": 0})
	if out.State != "running" {
		t.Errorf("got %+v, want a running command", out)
	}
	command(b, tooltest.Args{"command_id": out.CommandID, "signal": "SIGKILL"})
}

func TestShellsGetATerminal(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		out := command(b, tooltest.Args{"command": "sh", "idle_timeout": 0.3})
		out = command(b, tooltest.Args{"command_id": out.CommandID, "command": "test -t 0 && echo is'-a-'tty; exit 5\n"})
		if text, code := finish(b, out); !strings.Contains(text, "is-a-tty") || code != 5 {
			t.Errorf(`got %q, %d; want "is-a-tty" in it and code 5`, text, code)
		}
	})
	for command, want := range map[string]bool{
		"bash": true, "/bin/sh": true, "bash -i": true, "python3": true, "python3 -q": true, "top": true, "ssh nas": true, "PowerShell.exe": true, "bash -c ls": false,
		"python3 script.py": false, "sh | cat": false, "ls": false, "": false, "bash -lc ls": false, "python3 -m http.server": false, "bash --version": false,
		`export A='it'\''s'; export B='1'; bash`: true, `set "A=1"&& cmd`: true, "export A='1'; ls": false, "export A='1'; ls; bash": false, `export A='$(x)'; bash -c ls`: false,
	} {
		if got := isInteractive(command); got != want {
			t.Errorf("%q: got %v, want %v", command, got, want)
		}
	}
}

func TestSignalsEndACommand(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		for signal, trap := range map[string]string{"SIGINT": "INT", "SIGHUP": "HUP", "SIGQUIT": "QUIT", "SIGTERM": "TERM"} {
			out := command(b, tooltest.Args{"command": fmt.Sprintf("trap 'echo caught; exit 7' %s; echo ready; while :; do sleep 0.05; done", trap), "idle_timeout": 0.5})
			out = until(b, out, "ready\n")
			text, code := finish(b, command(b, tooltest.Args{"command_id": out.CommandID, "signal": signal}))
			if !strings.HasSuffix(text, "caught\n") || code != 7 {
				t.Errorf(`%s: got %q, %d; want a text that ends with "caught\n" and code 7`, signal, text, code)
			}
		}
		out := command(b, tooltest.Args{"command": "trap '' TERM INT; echo ready; while :; do sleep 0.05; done", "idle_timeout": 0.5})
		if _, code := finish(b, command(b, tooltest.Args{"command_id": out.CommandID, "signal": "SIGKILL"})); code != -1 {
			t.Errorf("killed: got exit code %d, want -1", code)
		}
	})
}

func TestSignalReachesTheProgramInTheTerminal(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		for _, name := range []string{"INT", "QUIT"} {
			out := command(b, tooltest.Args{"command": "sh", "idle_timeout": 0.3})
			out = command(b, tooltest.Args{"command_id": out.CommandID, "idle_timeout": 0.5, "command": "sh -c 'trap \"echo cau\"\"ght; exit 7\" " + name + "; echo rea\"\"dy; while :; do sleep 0.05; done'; exit $?\n"})
			out = until(b, out, "ready")
			if text, code := finish(b, command(b, tooltest.Args{"command_id": out.CommandID, "signal": "SIG" + name})); !strings.Contains(text, "caught") || code != 7 {
				t.Errorf(`%s: got %q, %d; want "caught" in it and code 7`, name, text, code)
			}
		}
	})
}

func TestLongOutputComesInParts(t *testing.T) {
	b := newBench(t)
	const lines = 100_000
	text, code := finish(b, command(b, tooltest.Args{"command": fmt.Sprintf("seq -f '%%07g é' %d", lines)}))
	if want := "0100000 é\n"; code != 0 || !strings.HasSuffix(text, want) || strings.ContainsRune(text, '\uFFFD') {
		t.Errorf("got %d bytes, code %d; want code 0 and all characters whole", len(text), code)
	}
}

func TestOutputThatNobodyReadsIsDropped(t *testing.T) {
	b := newBench(t)
	printed := filepath.Join(t.TempDir(), "printed")
	out := command(b, tooltest.Args{"command": "seq 1 400000; touch '" + printed + "'; echo end; sleep 999", "idle_timeout": 0})
	dropped, text := int64(0), ""
	polltest.Until(t, "the output", func() bool { _, err := os.Stat(printed); return err == nil })
	for end := time.Now().Add(3 * time.Minute); !strings.HasSuffix(text, "end\n"); {
		if time.Now().After(end) {
			t.Fatal("the end of the output does not come")
		}
		out = command(b, tooltest.Args{"command_id": out.CommandID, "idle_timeout": 0.2})
		dropped, text = dropped+out.DroppedBytes, text+out.Output
	}
	if dropped == 0 {
		t.Error("nothing was dropped of more than the node stores")
	}
	command(b, tooltest.Args{"command_id": out.CommandID, "signal": "SIGKILL"})
}

func TestWrongArgumentsOfACommandSayWhatToDo(t *testing.T) {
	b := newBench(t)
	running := command(b, tooltest.Args{"command": "cat", "idle_timeout": 0})
	id := running.CommandID
	ended := command(b, tooltest.Args{"command": "true", "idle_timeout": 60})
	for _, c := range []struct {
		args tooltest.Args
		code protocol.FaultCode
		text string
	}{
		{tooltest.Args{}, protocol.FaultInvalidArgs, "command must not be empty"},
		{tooltest.Args{"command": "ls", "workdir": "/does/not/exist"}, protocol.FaultInvalidArgs, "folder"},
		{tooltest.Args{"command": "ls", "shell": "fish"}, protocol.FaultInvalidArgs, "unknown shell"},
		{tooltest.Args{"command": "ls", "shell": "powershell"}, protocol.FaultUnsupported, "Windows only"},
		{tooltest.Args{"command": strings.Repeat("x", maxLine+1)}, protocol.FaultInvalidArgs, "too long"},
		{tooltest.Args{"command": "ls", "signal": "SIGINT"}, protocol.FaultInvalidArgs, "command_id"},
		{tooltest.Args{"command": "ls", "idle_timeout": -1}, protocol.FaultInvalidArgs, "0 to 600"},
		{tooltest.Args{"command": "ls", "idle_timeout": 601}, protocol.FaultInvalidArgs, "0 to 600"},
		{tooltest.Args{"command_id": "none"}, protocol.FaultNotFound, "no command has this command_id"},
		{tooltest.Args{"command_id": id, "workdir": "/"}, protocol.FaultInvalidArgs, "continues a command"},
		{tooltest.Args{"command_id": id, "signal": "SIGSTOP"}, protocol.FaultInvalidArgs, "unknown signal"},
		{tooltest.Args{"command_id": ended.CommandID, "command": "x"}, protocol.FaultFailedPrecondition, "has ended"},
	} {
		fault(b, c.args, c.code, c.text)
	}
	command(b, tooltest.Args{"command_id": id, "signal": "SIGKILL"})
}

func TestPowerShellScriptIsEncoded(t *testing.T) {
	line, encoded, ok := strings.Cut(powershell("'é' | % { $_ }"), " -EncodedCommand ")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || !strings.HasPrefix(line, "powershell.exe -NoProfile ") {
		t.Fatalf(`got %s, %v; want ok, no error and a text that begins with "powershell.exe -NoProfile "`, line, err)
	}
	var units []uint16
	for i := 0; i < len(raw); i += 2 {
		units = append(units, uint16(raw[i])|uint16(raw[i+1])<<8)
	}
	if script := string(utf16.Decode(units)); !strings.Contains(script, "; 'é' | % { $_ }\n") {
		t.Errorf(`got %s, want "; 'é' | %% { $_ }\n" in it`, script)
	}
}

func TestCommandRunsInSh(t *testing.T) {
	fish := filepath.Join(t.TempDir(), "fish")
	if err := os.WriteFile(fish, []byte("#!/bin/sh\necho fish\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHELL", fish)
	b := newBench(t)
	if text, _ := finish(b, command(b, tooltest.Args{"command": "echo $0"})); text != "/bin/sh\n" {
		t.Errorf("%q runs it, want /bin/sh", text)
	}
	raw, _ := json.Marshal(tooltest.Args{"command": "echo $0"})
	if p, _, err := b.Tools["command"].Preview(t.Context(), access.Call{}, raw); err != nil || p.Shell != "/bin/sh" {
		t.Errorf(`preview: got %+v, %v; want no error and Shell "/bin/sh"`, p, err)
	}
}

func TestPreviewOfACommandIsThatOfBash(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	b := newBench(t)
	preview := func(tool string, a tooltest.Args) protocol.CallPreview {
		raw, _ := json.Marshal(a)
		p, _, err := b.Tools[tool].Preview(t.Context(), access.Call{}, raw)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got, _ := json.Marshal(preview("command", tooltest.Args{"command": "git status | head", "workdir": b.WS.Dir()}))
	want, _ := json.Marshal(preview("Bash", tooltest.Args{"command": "git status | head", "workdir": b.WS.Dir()}))
	if string(got) != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	out := command(b, tooltest.Args{"command": "cat", "workdir": b.WS.Dir(), "idle_timeout": 0})
	if p := preview("command", tooltest.Args{"command_id": out.CommandID, "command": "rm x\n"}); p.Folder != b.WS.Dir() || p.Input == nil || p.Input.Command != "cat" || p.Input.Text != "rm x\n" || p.Problem != "" {
		t.Errorf("text for a command: got %+v, want it named with the text", p)
	}
	if p := preview("command", tooltest.Args{"command_id": "none", "command": "x"}); p.Problem == "" {
		t.Error("text for an unknown command has no problem")
	}
	command(b, tooltest.Args{"command_id": out.CommandID, "signal": "SIGKILL"})
}
