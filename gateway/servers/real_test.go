//go:build unix

package servers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// realServers names the folder with the servers that packaging/mcp-servers.sh installs: those of
// npm in node_modules, those of PyPI in py.
const realServers = "FAIRLEAD_REAL_SERVERS"

// TestRealServersServeTheAgent lets the agent use servers that others wrote.
func TestRealServersServeTheAgent(t *testing.T) {
	dir := os.Getenv(realServers)
	if dir == "" {
		t.Skip("the servers of other authors are not part of the repository: packaging/mcp-servers.sh installs them and runs this test")
	}
	h := startGateway(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body><h1>Hello from loopback</h1><p>A page of the test.</p></body></html>")
	}))
	t.Cleanup(page.Close)
	os.WriteFile(filepath.Join(h.work, "note.txt"), []byte("the content of the note"), 0o600)
	for _, args := range [][]string{{"init", "-q"}, {"add", "note.txt"}, {"-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "the first commit"}} {
		if out, err := exec.Command("git", append([]string{"-C", h.work}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git: got error %v, want none: %s", err, out)
		}
	}
	node := func(name string) string { return filepath.Join(dir, "node_modules", ".bin", name) }
	python := func(name string) string { return filepath.Join(dir, "py", "bin", name) }
	for _, c := range []struct {
		name, command string
		args          []string
		tool, in      string
		want          string // in what the model gets
	}{
		{"everything", node("mcp-server-everything"), nil, "echo", `{"message": "hello"}`, "Echo: hello"},
		{"everything2", node("mcp-server-everything"), nil, "get-sum", `{"a": 2, "b": 3}`, "sum of 2 and 3 is 5"},
		{"filesystem", node("mcp-server-filesystem"), []string{h.work}, "read_text_file", `{"path": ` + jsonString(filepath.Join(h.work, "note.txt")) + `}`, "the content of the note"},
		{"memory", node("mcp-server-memory"), nil, "create_entities", `{"entities": [{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}]}`, "likes tea"},
		{"time", python("mcp-server-time"), []string{"--local-timezone", "UTC"}, "get_current_time", `{"timezone": "Europe/Berlin"}`, "Europe/Berlin"},
		{"git", python("mcp-server-git"), []string{"--repository", h.work}, "git_log", `{"repo_path": ` + jsonString(h.work) + `}`, "the first commit"},
		{"fetch", python("mcp-server-fetch"), []string{"--ignore-robots-txt", "--allow-private-ips"}, "fetch", `{"url": ` + jsonString(page.URL) + `}`, "Hello from loopback"},
		{"npx", "npx", []string{"-y", "@modelcontextprotocol/server-everything@2026.8.31"}, "echo", `{"message": "downloaded"}`, "Echo: downloaded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.t = t
			env := map[string]string{"MEMORY_FILE_PATH": filepath.Join(h.work, "memory.json")}
			ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: protocol.ServerName(c.name), Spec: protocol.ServerSpec{Command: c.command, Args: c.args, Env: env}})
			h.untilState(protocol.ServerName(c.name), protocol.ServerReady)
			s := h.status(protocol.ServerName(c.name))
			h.call(protocol.ToolName(c.name+"__"+c.tool), c.in)
			a := h.question()
			if a.Tool != c.tool || string(a.Node) != c.name {
				t.Errorf("got a question about %s on %s, want %s on %s", a.Tool, a.Node, c.tool, c.name)
			}
			h.allow(a, protocol.ScopeOnce)
			r := h.waitLastCall(protocol.ToolName(c.name + "__" + c.tool))
			h.until("the answer", func() bool { return strings.Contains(h.model.last(), `"role":"tool"`) })
			if !strings.Contains(string(r.Output), c.want) {
				lines := ask(h, protocol.ServerLogs, protocol.ServerParams{Name: protocol.ServerName(c.name)}).Lines
				t.Errorf("got status %s, output %s, error %s, want %q\n%s", r.Status, r.Output, r.Error, c.want, strings.Join(lines, "\n"))
			}
			t.Logf("%s %s: %d tools, %d resources, %d prompts; effect of %s: %q", s.Title, s.Version, len(s.Tools), s.Resources, s.Prompts, c.tool, a.Effect)
			ask(h, protocol.ServerRemove, protocol.ServerParams{Name: protocol.ServerName(c.name)})
		})
	}
	h.t = t
}
