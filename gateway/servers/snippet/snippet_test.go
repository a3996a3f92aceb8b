package snippet_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/servers/snippet"
)

func TestEveryFormOfAServerIsRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": {"git hub": {"command": "npx", "args": ["-y", "x"], "env": {"T": "1"}}}}`: `[{"name":"git_hub","spec":{"command":"npx","args":["-y","x"],"env":{"T":"1"},"network":"fetch"}}]`,
		`{"servers": {"a": {"type": "http", "url": "https://e.org/mcp", "headers": {"A": "b"}}}}`: `[{"name":"a","spec":{"url":"https://e.org/mcp","headers":{"A":"b"}}}]`,
		`{"context_servers": {"z": {"source": "custom", "command": {"path": "zz", "args": ["1"]}}}, // comment
		}`: `[{"name":"z","spec":{"command":"zz","args":["1"],"network":"no"}}]`,
		`{"mcp": {"servers": {"v": {"command": "v"}}}}`:                                       `[{"name":"v","spec":{"command":"v","network":"no"}}]`,
		`{"mcp": {"o": {"type": "local", "command": ["o", "x"], "environment": {"K": "1"}}}}`: `[{"name":"o","spec":{"command":"o","args":["x"],"env":{"K":"1"},"network":"no"}}]`,
		`{"one": {"command": "a"}, "two": {"url": "http://h"}, "x": 1}`:                       `[{"name":"one","spec":{"command":"a","network":"no"}},{"name":"two","spec":{"url":"http://h"}}]`,
		`"memory": {"command": "npx", "args": ["m"]},`:                                        `[{"name":"memory","spec":{"command":"npx","args":["m"],"network":"fetch"}}]`,
		`{"command": "uvx", "args": ["mcp-server-time"]}`:                                     `[{"name":"time","spec":{"command":"uvx","args":["mcp-server-time"],"network":"fetch"}}]`,
		`npx -y @modelcontextprotocol/server-filesystem@1.2 "/tmp/my x"`:                      `[{"name":"filesystem","spec":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem@1.2","/tmp/my x"],"network":"fetch"}}]`,
		`A_KEY=s3cret B=2 uvx mcp-server-git --repo .`:                                        `[{"name":"git","spec":{"command":"uvx","args":["mcp-server-git","--repo","."],"env":{"A_KEY":"s3cret","B":"2"},"network":"fetch"}}]`,
		`claude mcp add notes -- node /srv/notes.js`:                                          `[{"name":"notes","spec":{"command":"node","args":["/srv/notes.js"],"network":"no"}}]`,
		`{"n": {"command": "npx", "args": ["n"], "network": "yes"}}`:                          `[{"name":"n","spec":{"command":"npx","args":["n"],"network":"yes"}}]`,
		`https://mcp.example.com/sse?x=1`:                                                     `[{"name":"example","spec":{"url":"https://mcp.example.com/sse?x=1"}}]`,
		`http://127.0.0.1:3001/mcp`:                                                           `[{"name":"server-127-0-0-1","spec":{"url":"http://127.0.0.1:3001/mcp"}}]`,
	} {
		list, err := snippet.Parse(text)
		got, _ := json.Marshal(list)
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s %v\nwant %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "{", `{"a": 1}`, "a | b", `x "y`, "A=1", "https://", "curl x && y"} {
		if list, err := snippet.Parse(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, list)
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
	write(".claude.json", `{"mcpServers": {"b": {"type": "http", "url": "https://b.example"}, "none": {}, "odd": 7}, "projects": {
		"/src/blog": {"mcpServers": {"db": {"command": "db", "args": ["blog"]}, "b": {"url": "https://b.example"}}},
		"/src/shop": {"mcpServers": {"db": {"command": "db", "args": ["shop"]}, "b": {"url": "https://b.example"}}, "disabledMcpServers": ["b"]}}}`)
	write(".config/Code/User/mcp.json", `{"servers": {"c": {"command": "y", "args": ["1"]}}}`)
	write(".cursor/mcp.json", `{"mcpServers": broken`)
	write(".codeium/windsurf/mcp_config.json", `{"mcpServers": {"d": {"serverUrl": "https://d.example", "disabled": true}}}`)
	write(".config/zed/settings.json", `{"context_servers": {"e": {"command": {"path": "z", "args": []}}, "f": {"command": "z", "enabled": false}}}`)
	write(".gemini/settings.json", `{"mcpServers": {"g": {"command": "w", "cwd": "/srv/g"}, "h": {"httpUrl": "https://h.example"}}}`)
	var got []string
	for _, f := range snippet.Find(home, config) {
		line := string(f.Name) + " " + f.Source + " " + f.Spec.Command + f.Spec.URL
		if f.Project != "" {
			line += " of " + f.Project
		}
		if f.Spec.Cwd != "" {
			line += " in " + f.Spec.Cwd
		}
		if f.Spec.Disabled {
			line += " off"
		}
		got = append(got, line)
	}
	want := []string{
		"a Claude Desktop x",
		"b Claude Code https://b.example",
		"b Claude Code https://b.example of /src/blog", "db Claude Code db of /src/blog",
		"b Claude Code https://b.example of /src/shop off", "db_shop Claude Code db of /src/shop",
		"c Visual Studio Code y",
		"d Windsurf https://d.example off",
		"e Zed z", "f Zed z off",
		"g Gemini CLI w in /srv/g", "h Gemini CLI https://h.example",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestBrokenJSONNamesThePlace(t *testing.T) {
	for text, place := range map[string]string{`{`: " at line 1, column 2", "{\"mcpServers\": {\n\"a\" 5}}": " at line 2, column 5"} {
		want := "This JSON is not valid" + place + ": look for a missing bracket, quote or comma there."
		if _, err := snippet.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
