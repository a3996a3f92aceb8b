package snippet_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/servers/snippet"
)

func TestEveryFormOfAServerIsRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": {"git hub": {"command": "npx", "args": ["-y", "x"], "env": {"T": "1"}}}}`: `[{"name":"git_hub","spec":{"command":"npx","args":["-y","x"],"env":{"T":"1"}}}]`,
		`{"servers": {"a": {"type": "http", "url": "https://e.org/mcp", "headers": {"A": "b"}}}}`: `[{"name":"a","spec":{"url":"https://e.org/mcp","headers":{"A":"b"}}}]`,
		`{"context_servers": {"z": {"source": "custom", "command": {"path": "zz", "args": ["1"]}}}, // comment
		}`: `[{"name":"z","spec":{"command":"zz","args":["1"]}}]`,
		`{"mcp": {"servers": {"v": {"command": "v"}}}}`:                  `[{"name":"v","spec":{"command":"v"}}]`,
		`{"one": {"command": "a"}, "two": {"url": "http://h"}, "x": 1}`:  `[{"name":"one","spec":{"command":"a"}},{"name":"two","spec":{"url":"http://h"}}]`,
		`"memory": {"command": "npx", "args": ["m"]},`:                   `[{"name":"memory","spec":{"command":"npx","args":["m"]}}]`,
		`{"command": "uvx", "args": ["mcp-server-time"]}`:                `[{"name":"time","spec":{"command":"uvx","args":["mcp-server-time"]}}]`,
		`npx -y @modelcontextprotocol/server-filesystem@1.2 "/tmp/my x"`: `[{"name":"filesystem","spec":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem@1.2","/tmp/my x"]}}]`,
		`A_KEY=s3cret B=2 uvx mcp-server-git --repo .`:                   `[{"name":"git","spec":{"command":"uvx","args":["mcp-server-git","--repo","."],"env":{"A_KEY":"s3cret","B":"2"}}}]`,
		`claude mcp add notes -- node /srv/notes.js`:                     `[{"name":"notes","spec":{"command":"node","args":["/srv/notes.js"]}}]`,
		`https://mcp.example.com/sse?x=1`:                                `[{"name":"example","spec":{"url":"https://mcp.example.com/sse?x=1"}}]`,
		`http://127.0.0.1:3001/mcp`:                                      `[{"name":"server-127-0-0-1","spec":{"url":"http://127.0.0.1:3001/mcp"}}]`,
	} {
		list, err := snippet.Parse(text)
		got, _ := json.Marshal(list)
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s %v\nwant %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "{", `{"a": 1}`, "a | b", `x "y`, "A=1", "https://", "curl x && y"} {
		if list, err := snippet.Parse(text); err == nil {
			t.Errorf("%q is read as %+v", text, list)
		}
	}
}

func TestServersOfOtherProgramsAreFound(t *testing.T) {
	home := t.TempDir()
	config := filepath.Join(home, ".config")
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".config/Claude/claude_desktop_config.json", `{"mcpServers": {"a": {"command": "x"}, "fairlead": {"command": "fairlead"}}}`)
	write(".claude.json", `{"mcpServers": {"b": {"type": "http", "url": "https://b.example"}}}`)
	write(".config/Code/User/mcp.json", `{"servers": {"c": {"command": "y", "args": ["1"]}}}`)
	write(".cursor/mcp.json", `{"mcpServers": broken`)
	var got []string
	for _, f := range snippet.Find(home, config) {
		got = append(got, string(f.Name)+" "+f.Source+" "+f.Spec.Command+f.Spec.URL)
	}
	if want := "a Claude Desktop x\nb Claude Code https://b.example\nc Visual Studio Code y"; strings.Join(got, "\n") != want {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
