//go:build unix

package shell

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
)

func inputOf(b *bench, tool string, a tooltest.Args) protocol.CommandInput {
	b.T.Helper()
	raw, _ := json.Marshal(a)
	p, _, err := b.Tools[tool].Preview(b.T.Context(), access.Call{}, raw)
	if err != nil || p.Input == nil || p.FileSHA256 == "" {
		b.T.Fatalf("preview of %v: got %+v, %v, want an input with a checksum", a, p, err)
	}
	return *p.Input
}

func TestOnlyAPlainShellReadsLines(t *testing.T) {
	for _, c := range []struct {
		command, text string
		tty           bool
		want          string
	}{
		{"bash --norc", "echo a\n", true, "bash"},
		{"sh", "echo a\necho b\r", true, "sh"},
		{"exec /bin/dash", "echo a\n", false, "dash"},
		{"bash", "echo \"!!:1\"\n", false, "bash"},
		{"bash", "echo \"!!:1\"\n", true, ""},
		{"bash -i", "echo \"!$\"\n", false, ""},
		{"bash", "^a^b\n", true, ""},
		{"zsh", "# x; rm y\n", true, ""},
		{"bash", "echo a", true, ""},
		{"bash", "echo a\x12b\n", true, ""},
		{"bash", "ec\tho a\n", true, ""},
		{"bash --rcfile x", "echo a\n", true, ""},
		{"bash -c 'cat'", "echo a\n", true, ""},
		{"bash; cat", "echo a\n", true, ""},
		{"env bash", "echo a\n", true, ""},
		{"sudo bash", "echo a\n", true, ""},
		{"python3", "echo a\n", true, ""},
		{"ssh host", "echo a\n", true, ""},
		{"", "echo a\n", true, ""},
	} {
		if got := lineReader(c.command, c.text, c.tty); got != c.want {
			t.Errorf("%q, %q, terminal %v: got %q, want %q", c.command, c.text, c.tty, got, c.want)
		}
	}
}

func TestInputOfAShellDependsOnItsProgramAndEarlierInput(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		out := command(b, tooltest.Args{"command": "sh", "idle_timeout": 0.1})
		line := tooltest.Args{"command_id": out.CommandID, "command": "echo a\n"}
		if in := inputOf(b, "command", line); in.Shell != "sh" || in.Command != "sh" || in.Text != "echo a\n" || in.Before != "" || in.ID != out.CommandID {
			t.Errorf("at first: got %+v, want a line for sh", in)
		}
		until(b, command(b, tooltest.Args{"command_id": out.CommandID, "command": "echo one\n", "idle_timeout": 0}), "\none\r")
		if in := inputOf(b, "command", line); in.Shell != "sh" || in.Before != "echo one\n" {
			t.Errorf("after a line: got %+v, want it before the next one", in)
		}
		until(b, command(b, tooltest.Args{"command_id": out.CommandID, "command": "echo two; cat\n", "idle_timeout": 0}), "\ntwo\r")
		for end := time.Now().Add(time.Minute); inputOf(b, "command", line).Shell != ""; {
			if time.Now().After(end) {
				t.Fatal("while cat runs, the shell seems to read the next line")
			}
		}
		command(b, tooltest.Args{"command_id": out.CommandID, "signal": "SIGKILL", "idle_timeout": 0})
	})
}

func TestProcessNamesTheRunningCommand(t *testing.T) {
	inEachBench(t, func(t *testing.T, b *bench) {
		started := tooltest.Must[map[string]any](b.Bench, "Bash", tooltest.Args{"command": "cat", "background": true})
		id, _ := started["sessionId"].(string)
		if in := inputOf(b, "Process", tooltest.Args{"action": "submit", "sessionId": id, "data": "rm victim"}); in.Command != "cat" || in.Text != "rm victim\n" || in.Shell != "" {
			t.Errorf("got %+v, want the text for cat", in)
		}
		raw, _ := json.Marshal(tooltest.Args{"action": "poll", "sessionId": id})
		if p, _, err := b.Tools["Process"].Preview(b.T.Context(), access.Call{}, raw); err != nil || p.Input != nil || strings.TrimSpace(p.Problem) != "" {
			t.Errorf("preview of poll: got %+v, %v; want no error, no Input and an empty Problem", p, err)
		}
		tooltest.Must[map[string]any](b.Bench, "Process", tooltest.Args{"action": "kill", "sessionId": id})
	})
}
