// Package clients knows where MCP client programs keep their list of servers, and in which format:
// to add Fairlead to them, and to read the servers that they use.
package clients

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"fairlead/gateway/peer/atomicfile"
)

// Client is a program that can use MCP servers.
type Client struct {
	ID    string // for the command line
	Title string
	// Path is the absolute path of its file of settings.
	Path string
	// key is the object in the file that has the servers, by their names.
	key  string
	toml bool
	// isList means that command is a list with the arguments.
	isList bool
	// extra are fields that this client needs beside command and args.
	extra map[string]any
	// program is the name of its command; empty if it has none.
	program string
}

// Name is the name of Fairlead in the lists of clients.
const Name = "fairlead"

// All lists the known clients, with the paths of a person whose home folder is home. config is the
// system's folder for settings of programs (os.UserConfigDir).
func All(home, config string) []Client {
	in := func(elem ...string) string { return filepath.Join(append([]string{home}, elem...)...) }
	zed := in(".config", "zed", "settings.json")
	if runtime.GOOS == "windows" {
		zed = filepath.Join(config, "Zed", "settings.json")
	}
	opencode := in(".config", "opencode", "opencode.json")
	if _, err := os.Stat(opencode + "c"); err == nil {
		opencode += "c"
	}
	stdio := map[string]any{"type": "stdio"}
	return []Client{
		{ID: "claude-desktop", Title: "Claude Desktop", Path: filepath.Join(config, "Claude", "claude_desktop_config.json"), key: "mcpServers"},
		{ID: "claude-code", Title: "Claude Code", Path: in(".claude.json"), key: "mcpServers", extra: stdio, program: "claude"},
		{ID: "vscode", Title: "Visual Studio Code", Path: filepath.Join(config, "Code", "User", "mcp.json"), key: "servers", extra: stdio, program: "code"},
		{ID: "cursor", Title: "Cursor", Path: in(".cursor", "mcp.json"), key: "mcpServers", program: "cursor"},
		{ID: "windsurf", Title: "Windsurf", Path: in(".codeium", "windsurf", "mcp_config.json"), key: "mcpServers", program: "windsurf"},
		{ID: "zed", Title: "Zed", Path: zed, key: "context_servers", extra: map[string]any{"source": "custom", "env": map[string]string{}}, program: "zed"},
		{ID: "gemini", Title: "Gemini CLI", Path: in(".gemini", "settings.json"), key: "mcpServers", program: "gemini"},
		{ID: "codex", Title: "Codex", Path: in(".codex", "config.toml"), key: "mcp_servers", toml: true, program: "codex"},
		{ID: "opencode", Title: "opencode", Path: opencode, key: "mcp", isList: true, extra: map[string]any{"type": "local", "enabled": true}, program: "opencode"},
	}
}

// IsInstalled reports whether the program seems to be on this computer: its command is on the PATH,
// or the folder of its settings exists.
func (c Client) IsInstalled() bool {
	if c.program != "" {
		if _, err := exec.LookPath(c.program); err == nil {
			return true
		}
	}
	dir := filepath.Dir(c.Path)
	if c.ID == "claude-code" {
		dir = c.Path // its folder is the home folder
	}
	_, err := os.Stat(dir)
	return err == nil
}

// Change is a change of a client's file that was not made yet.
type Change struct {
	Path        string
	Before, New []byte // New is nil if the file does not change
}

// Add returns the change that adds Fairlead, which the client starts by a command. Comments and the
// rest of the file stay as they are.
func (c Client) Add(command string, args ...string) (Change, error) {
	before, err := c.read()
	if err != nil {
		return Change{}, err
	}
	out := Change{Path: c.Path, Before: before}
	if c.toml {
		out.New = addSection(before, c.key+"."+Name, command, args)
	} else {
		entry := map[string]any{"command": command, "args": append([]string{}, args...)}
		if c.isList {
			entry = map[string]any{"command": append([]string{command}, args...)}
		}
		for k, v := range c.extra {
			entry[k] = v
		}
		if out.New, err = c.edit(before, entry); err != nil {
			return Change{}, fmt.Errorf("change %s: %w", c.Path, err)
		}
	}
	if bytes.Equal(before, out.New) {
		out.New = nil
	}
	return out, nil
}

// Remove returns the change that removes Fairlead.
func (c Client) Remove() (Change, error) {
	before, err := c.read()
	if err != nil || !c.HasFairlead() {
		return Change{Path: c.Path, Before: before}, err
	}
	out := Change{Path: c.Path, Before: before}
	if c.toml {
		from, to := section(before, c.key+"."+Name)
		out.New = slices.Concat(bytes.TrimRight(before[:from], "\n"), []byte("\n"), before[to:])
		return out, nil
	}
	if out.New, err = c.edit(before, nil); err != nil {
		return Change{}, fmt.Errorf("change %s: %w", c.Path, err)
	}
	return out, nil
}

// edit changes the entry of Fairlead in a JSON file that may have comments; a nil entry removes it.
func (c Client) edit(data []byte, entry map[string]any) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	file, err := hujson.Parse(bytes.Clone(data))
	if err != nil {
		return nil, syntaxError(err)
	}
	top, ok := file.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	unit := indentation(data)
	servers := member(top, c.key)
	if servers == nil {
		appendMember(top, c.key, hujson.Value{Value: &hujson.Object{}}, unit, 1)
		servers = member(top, c.key)
	}
	list, ok := servers.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s is not a JSON object", c.key)
	}
	list.Members = slices.DeleteFunc(list.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == Name })
	if entry != nil {
		raw, err := json.MarshalIndent(entry, strings.Repeat(unit, 2), unit)
		if err != nil {
			return nil, err
		}
		value, err := hujson.Parse(raw)
		if err != nil {
			return nil, err
		}
		appendMember(list, Name, value, unit, 2)
	}
	return file.Pack(), nil
}

func nameOf(m hujson.ObjectMember) string {
	text, ok := m.Name.Value.(hujson.Literal)
	if !ok {
		return ""
	}
	return text.String()
}

// member returns the value of a member, or nil if the object has no member of that name.
func member(o *hujson.Object, name string) *hujson.Value {
	for i := range o.Members {
		if nameOf(o.Members[i]) == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

// appendMember adds a member at the end of an object, on a line of its own.
func appendMember(o *hujson.Object, name string, value hujson.Value, unit string, depth int) {
	value.BeforeExtra = hujson.Extra(" ")
	m := hujson.ObjectMember{Name: hujson.Value{BeforeExtra: hujson.Extra("\n" + strings.Repeat(unit, depth)), Value: hujson.String(name)}, Value: value}
	o.Members = append(o.Members, m)
	o.AfterExtra = hujson.Extra("\n" + strings.Repeat(unit, depth-1))
}

// indentation returns what a file's lines are indented with.
func indentation(data []byte) string {
	for line := range bytes.Lines(data) {
		if rest := bytes.TrimLeft(line, " \t"); len(rest) < len(line) && len(bytes.TrimSpace(rest)) > 0 {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}

// section returns where a table of a TOML file begins and ends; from is -1 if it is missing.
func section(data []byte, name string) (from, to int) {
	from, at := -1, 0
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		switch {
		case text == "["+name+"]" || strings.HasPrefix(text, "["+name+".") && from >= 0:
			if from < 0 {
				from = at
			}
		case from >= 0 && strings.HasPrefix(text, "["):
			return from, at
		}
		at += len(line)
	}
	return from, len(data)
}

// addSection replaces a table of a TOML file, or adds it at the end.
func addSection(data []byte, name, command string, args []string) []byte {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	text := fmt.Sprintf("[%s]\ncommand = %s\nargs = [%s]\n", name, quote(command), strings.Join(quoted, ", "))
	if from, to := section(data, name); from >= 0 {
		rest := data[to:]
		if len(rest) > 0 {
			text += "\n"
		}
		return slices.Concat(data[:from], []byte(text), rest)
	}
	head := string(data)
	if head != "" {
		head = strings.TrimRight(head, "\n") + "\n\n"
	}
	return []byte(head + text)
}

// quote makes a basic string of TOML, whose escapes JSON has too.
func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// BackupSuffix is added to the name of a file for the copy of its content before a change.
const BackupSuffix = ".fairlead-backup"

// Apply makes a change, after it has copied the present file. The file is replaced in one step.
func (c Change) Apply() error {
	if c.New == nil {
		return nil
	}
	path := c.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link to a file elsewhere stays a link
	}
	perm := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		perm = info.Mode().Perm()
		if err := os.WriteFile(path+BackupSuffix, c.Before, perm); err != nil {
			return fmt.Errorf("keep a copy of %s: %w", path, err)
		}
	} else if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, c.New, perm)
}

// ByID finds a client.
func ByID(list []Client, id string) (Client, bool) {
	i := slices.IndexFunc(list, func(c Client) bool { return c.ID == id })
	return list[max(i, 0)], i >= 0
}

// IDs lists the IDs of clients.
func IDs(list []Client) string {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	slices.SortFunc(ids, cmp.Compare[string])
	return strings.Join(ids, ", ")
}
