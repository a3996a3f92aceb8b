package node

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

// putBackVar names the folder in which the test program is a node that runs one command until it is
// killed.
const putBackVar = "NODE_TEST_PUT_BACK"

func init() {
	if dir := os.Getenv(putBackVar); dir != "" {
		sandbox.Main()
		changeForever(dir)
	}
}

// changeForever runs a command that changes files that start programs, says so, and does not end.
func changeForever(dir string) {
	n, err := crashNode(dir)
	if err != nil {
		panic(err)
	}
	args, err := json.Marshal(map[string]any{
		"command": "mkdir .husky && echo evil >.husky/pre-commit && echo evil >new.code-workspace; echo evil >.envrc; rm -r .vscode; echo ready >pipe; exec sleep 999",
	})
	if err != nil {
		panic(err)
	}
	n.call(context.Background(), protocol.ToolInvoke{CallID: "c", Tool: "Bash", Args: args})
}

func TestRestartedNodeRevertsFilesAfterAKill(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(rel string) string { return filepath.Join(dir, "ws", rel) }
	for rel, text := range map[string]string{".envrc": "mine", ".vscode/tasks.json": "mine"} {
		if err := os.MkdirAll(filepath.Dir(at(rel)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(rel), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "mkfifo", at("pipe")).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: got error %v, want none: %s", err, out)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), putBackVar+"="+dir, "SHELL=/bin/sh")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.Open(at("pipe"))
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(pipe).ReadString('\n'); line != "ready\n" {
		t.Fatalf("got %q (%v), want the command to say that it is ready", line, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	n, err := crashNode(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for rel, want := range map[string]string{".envrc": "mine", ".vscode/tasks.json": "mine", ".husky/pre-commit": "", "new.code-workspace": ""} {
		if data, _ := os.ReadFile(at(rel)); string(data) != want {
			t.Errorf("%s: got %q, want %q", rel, data, want)
		}
	}
	list := n.baseline.Questions.Pending()
	if len(list) != 1 || list[0].CallID != "c" {
		t.Fatalf("pending questions: got %+v, want one about the call", list)
	}
	for _, rel := range []string{".husky/pre-commit", "new.code-workspace"} {
		if !slices.ContainsFunc(list[0].Changes, func(c protocol.ProtectedChange) bool { return c.Path == at(rel) }) {
			t.Errorf("got changes %+v, want %s among them", list[0].Changes, rel)
		}
	}
}

func TestANodeRestrictsItsOwnFilesAtItsStart(t *testing.T) {
	dir := t.TempDir()
	for _, rel := range []string{"ws/file", "home/secrets.json", "home/keys/device"} {
		name := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	n, err := crashNode(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for rel, want := range map[string]string{"home": "drwx------", "home/keys": "drwx------", "home/secrets.json": "-rw-------", "home/keys/device": "-rw-------", "ws/file": "-rw-r--r--"} {
		if info, err := os.Stat(filepath.Join(dir, rel)); err != nil || fmt.Sprint(info.Mode()) != want {
			t.Errorf("%s: got %v (%v), want %s", rel, info.Mode(), err, want)
		}
	}
}
