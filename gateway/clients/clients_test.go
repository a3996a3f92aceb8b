package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// client returns a client whose file has this content. It has no file if content is empty.
func client(t *testing.T, id, content string) Client {
	t.Helper()
	dir := t.TempDir()
	c, ok := ByID(All(dir, filepath.Join(dir, "config")), id)
	if !ok {
		t.Fatalf("no client %s", id)
	}
	if content != "" {
		if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.Path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func add(t *testing.T, c Client) Change {
	t.Helper()
	change, err := c.Add("/opt/fairlead", "mcp", "--app", c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	return change
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const zedFile = "// my settings\n{\n\t\"theme\": \"One\", // dark\n\t\"context_servers\": {\n\t\t\"other\": {\"command\": \"x\"},\n\t},\n}\n"

func TestFairleadIsAddedAndTheRestStays(t *testing.T) {
	for _, c := range []struct{ id, before, after string }{
		{"cursor", "", "{\n  \"mcpServers\": {\n    \"fairlead\": {\n      \"args\": [\n        \"mcp\",\n        \"--app\",\n        \"cursor\"\n      ],\n      \"command\": \"/opt/fairlead\"\n    }\n  }\n}\n"},
		{"zed", zedFile, strings.Replace(zedFile, "},\n\t},", "},\n\t\t\"fairlead\": {\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\",\n\t\t\t\t\"--app\",\n\t\t\t\t\"zed\"\n\t\t\t],\n\t\t\t\"command\": \"/opt/fairlead\",\n\t\t\t\"env\": {},\n\t\t\t\"source\": \"custom\"\n\t\t}\n\t},", 1)},
		{"opencode", "", "{\n  \"mcp\": {\n    \"fairlead\": {\n      \"command\": [\n        \"/opt/fairlead\",\n        \"mcp\",\n        \"--app\",\n        \"opencode\"\n      ],\n      \"enabled\": true,\n      \"type\": \"local\"\n    }\n  }\n}\n"},
		{"codex", "", "[mcp_servers.fairlead]\ncommand = \"/opt/fairlead\"\nargs = [\"mcp\", \"--app\", \"codex\"]\n"},
		{"codex", "model = \"x\"\n", "model = \"x\"\n\n[mcp_servers.fairlead]\ncommand = \"/opt/fairlead\"\nargs = [\"mcp\", \"--app\", \"codex\"]\n"},
		{"codex", "[mcp_servers.fairlead]\ncommand = \"old\"\n[mcp_servers.fairlead.env]\nA = \"1\"\n\n[other]\nx = 1\n", "[mcp_servers.fairlead]\ncommand = \"/opt/fairlead\"\nargs = [\"mcp\", \"--app\", \"codex\"]\n\n[other]\nx = 1\n"},
	} {
		t.Run(c.id, func(t *testing.T) {
			x := client(t, c.id, c.before)
			change := add(t, x)
			if got := read(t, x.Path); got != c.after {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.after)
			}
			if !x.HasFairlead() || string(change.Before) != c.before {
				t.Errorf("it is not in the list; before: %q", change.Before)
			}
			again, err := x.Add("/opt/fairlead", "mcp", "--app", c.id)
			if err != nil || again.New != nil {
				t.Errorf("adding it again changes %q, %v", again.New, err)
			}
			if c.before == "" {
				return
			}
			if got := read(t, x.Path+BackupSuffix); got != c.before {
				t.Errorf("the copy is %q, want %q", got, c.before)
			}
			if info, err := os.Stat(x.Path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode: got %v, %v; want no error and Mode.Perm 0o640", info.Mode(), err)
			}
		})
	}
}

func TestFairleadIsRemovedAndTheRestStays(t *testing.T) {
	for id, content := range map[string]string{"zed": zedFile, "codex": "model = \"x\"\n", "claude-code": "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"b\"}\n  }\n}\n"} {
		x := client(t, id, content)
		if change, err := x.Remove(); err != nil || change.New != nil {
			t.Errorf("%s: removing what is not there: %q, %v", id, change.New, err)
		}
		add(t, x)
		change, err := x.Remove()
		if err == nil {
			err = change.Apply()
		}
		if err != nil {
			t.Fatal(err)
		}
		plain := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, ",", "")), " ") }
		if got := read(t, x.Path); plain(got) != plain(content) || x.HasFairlead() {
			t.Errorf("%s: got:\n%s\nwant:\n%s", id, got, content)
		}
	}
}

func TestProgramsOnThePathAreFound(t *testing.T) {
	bin := t.TempDir()
	name := "claude"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for id, want := range map[string]bool{"claude-code": true, "gemini": false, "opencode": false} {
		if got := client(t, id, "").IsInstalled(); got != want {
			t.Errorf("%s: installed %v, want %v", id, got, want)
		}
	}
	if !client(t, "opencode", "{}").IsInstalled() {
		t.Error("opencode: not found by its settings")
	}
}

func TestBrokenFilesAreNotChanged(t *testing.T) {
	for id, content := range map[string]string{"cursor": "{", "vscode": "[]", "gemini": `{"mcpServers": 7}`} {
		x := client(t, id, content)
		if _, err := x.Add("/opt/fairlead"); err == nil || !strings.Contains(err.Error(), x.Path) {
			t.Errorf("%s: got %v, want an error with %v", id, err, x.Path)
		}
		if got := read(t, x.Path); got != content {
			t.Errorf("%s: the file is %q, want %q", id, got, content)
		}
	}
}

func TestServersOfAClientAreRead(t *testing.T) {
	list, err := client(t, "vscode", `{"servers": {"b": {"url": "https://b.example/mcp"}, "a": {"command": "npx"}}, "projects": {"/x": {"mcpServers": {"c": {}}}}} // end
`).Servers()
	var got []string
	for _, s := range list {
		got = append(got, s.Name+" "+string(s.Entry))
	}
	if want := []string{`a {"command": "npx"}`, `b {"url": "https://b.example/mcp"}`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if list, err := client(t, "cursor", "").Servers(); err != nil || len(list) != 0 {
		t.Errorf("without a file: got %v, %v, want none", list, err)
	}
	if _, err := client(t, "cursor", "{").Servers(); err == nil {
		t.Error("got no error for a broken file, want one")
	}
}

func TestServersOfProjectsAreRead(t *testing.T) {
	list, err := client(t, "claude-code", `{
		"mcpServers": {"all": {}},
		"projects": {
			"/src/shop": {"mcpServers": {"db": {}, "off": {}}, "disabledMcpServers": ["off", "all"]},
			"/src/odd": {"mcpServers": 7},
			"/src/blog": {"mcpServers": {"db": {}}}
		}}`).Servers()
	var got []string
	for _, s := range list {
		got = append(got, fmt.Sprint(s.Name, " ", s.Project, " ", s.Disabled))
	}
	want := []string{"all  false", "db /src/blog false", "db /src/shop false", "off /src/shop true"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestEveryClientHasItsPlace(t *testing.T) {
	home := filepath.FromSlash("/home/ann")
	all := All(home, filepath.Join(home, ".config"))
	for id, want := range map[string]string{
		"claude-desktop": ".config/Claude/claude_desktop_config.json", "claude-code": ".claude.json", "vscode": ".config/Code/User/mcp.json", "cursor": ".cursor/mcp.json",
		"windsurf": ".codeium/windsurf/mcp_config.json", "zed": ".config/zed/settings.json", "gemini": ".gemini/settings.json", "codex": ".codex/config.toml",
	} {
		c, ok := ByID(all, id)
		if !ok || c.Path != filepath.Join(home, filepath.FromSlash(want)) || c.Title == "" || c.IsInstalled() {
			t.Errorf("%s: got %+v; want ok, Path %v, some Title and not IsInstalled", id, c, filepath.Join(home, filepath.FromSlash(want)))
		}
		if !strings.Contains(IDs(all), id) {
			t.Errorf("%s is not listed", id)
		}
	}
	if _, ok := ByID(all, "none"); ok {
		t.Error("an unknown client is found")
	}
	if x := client(t, "cursor", "{}"); !x.IsInstalled() {
		t.Error("an installed client is not found")
	}
}

func FuzzFilesKeepTheirMeaning(f *testing.F) {
	f.Add(zedFile)
	f.Add("{}")
	f.Fuzz(func(t *testing.T, text string) {
		c := Client{ID: "x", key: "mcpServers"}
		out, err := c.edit([]byte(text), map[string]any{"command": "x"})
		if err != nil {
			return
		}
		if servers, err := c.servers(out); err != nil || servers[Name] == nil {
			t.Errorf("%q became %q: %v; want no error and servers[Name] set", text, out, err)
		}
	})
}

func TestErrorInSettingsHasNoWordsOfTheParser(t *testing.T) {
	_, err := members([]byte(`{"mcpServers": {`))
	if want := "it is not valid JSON (line 1, column 17)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
