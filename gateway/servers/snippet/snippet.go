// Package snippet reads the settings of MCP servers in the forms in which people find them: a JSON
// snippet from a server's page, a command line, a web address, and the files of other programs.
package snippet

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"fairlead/gateway/clients"
	"fairlead/gateway/peer/words"
	"fairlead/gateway/protocol"
)

// maxText is the longest text to read, in bytes.
const maxText = 1 << 20

// Parse returns the servers of a text. Its error is a protocol.ErrBadRequest for people.
func Parse(text string) ([]protocol.FoundServer, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nil, bad("Paste a JSON snippet, a command such as npx -y @scope/server, or an address.")
	case len(text) > maxText:
		return nil, bad("The text is too long.")
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, `"`):
		return parseJSON(text)
	case isAddress(text):
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || strings.ContainsAny(text, " \t\n") {
			return nil, bad("This is not a web address.")
		}
		return []protocol.FoundServer{{Name: nameOfHost(u), Spec: protocol.ServerSpec{URL: text}}}, nil
	}
	return parseCommand(text)
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

func bad(text string) error { return protocol.ErrBadRequest.With(text) }

// wrappers are the names under which programs have their servers.
var wrappers = []string{"mcpServers", "servers", "context_servers", "mcp"}

// entry is a server as programs write it.
type entry struct {
	Command  json.RawMessage   `json:"command"` // a text, a list, or an object with path and args
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Environ  map[string]string `json:"environment"` // of opencode
	Cwd      string            `json:"cwd"`
	URL      string            `json:"url"`
	Server   string            `json:"serverUrl"`
	HTTPURL  string            `json:"httpUrl"`
	Headers  map[string]string `json:"headers"`
	Network  string            `json:"network"` // Fairlead's own
	Disabled bool              `json:"disabled"`
	Enabled  *bool             `json:"enabled"` // Zed's opposite of disabled
}

func parseJSON(text string) ([]protocol.FoundServer, error) {
	if strings.HasPrefix(text, `"`) { // a part of an object: "name": {…}
		text = "{" + strings.TrimSuffix(text, ",") + "}"
	}
	plain, err := hujson.Standardize([]byte(text))
	if err != nil {
		place := ""
		if line, _, ok := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": "); ok && strings.HasPrefix(line, "line ") {
			place = " at " + line
		}
		return nil, bad("This JSON is not valid" + place + ": look for a missing bracket, quote or comma there.")
	}
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(plain, &tree); err != nil {
		return nil, bad("This JSON is not an object with servers.")
	}
	for _, w := range wrappers {
		var inner map[string]json.RawMessage
		if json.Unmarshal(tree[w], &inner) == nil && inner != nil {
			tree = inner
			if servers := inner["servers"]; w == "mcp" && servers != nil && json.Unmarshal(servers, &inner) == nil {
				tree = inner
			}
			break
		}
	}
	if spec, ok := specOf(plain); ok { // one server, not an object of servers by their names
		name := nameOf(spec)
		var text string
		if json.Unmarshal(tree["name"], &text) == nil && text != "" {
			name = Name(text)
		}
		return []protocol.FoundServer{{Name: name, Spec: spec}}, nil
	}
	var list []protocol.FoundServer
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if spec, ok := specOf(tree[name]); ok {
			list = append(list, protocol.FoundServer{Name: Name(name), Spec: spec})
		}
	}
	if len(list) == 0 {
		return nil, bad(`No server is in this JSON: an entry has "command" or "url".`)
	}
	return list, nil
}

// specOf reads one entry; ok is false if it is none.
func specOf(raw json.RawMessage) (spec protocol.ServerSpec, ok bool) {
	var e entry
	if json.Unmarshal(raw, &e) != nil {
		return spec, false
	}
	spec = protocol.ServerSpec{Args: e.Args, Env: e.Env, Cwd: e.Cwd, URL: cmp.Or(e.URL, e.Server, e.HTTPURL), Headers: e.Headers}
	if spec.Env == nil {
		spec.Env = e.Environ
	}
	spec.Network = e.Network
	spec.Disabled = e.Disabled || e.Enabled != nil && !*e.Enabled
	var parts []string
	var nested struct {
		Path string            `json:"path"`
		Args []string          `json:"args"`
		Env  map[string]string `json:"env"`
	}
	switch {
	case json.Unmarshal(e.Command, &spec.Command) == nil:
	case json.Unmarshal(e.Command, &parts) == nil && len(parts) > 0:
		spec.Command, spec.Args = parts[0], append(parts[1:], e.Args...)
	case json.Unmarshal(e.Command, &nested) == nil:
		spec.Command, spec.Args, spec.Env = nested.Path, nested.Args, nested.Env
	}
	return clean(spec), spec.Command != "" || spec.URL != ""
}

// clean removes what does not belong to a server of this kind, and suggests whether a command may use
// the network.
func clean(s protocol.ServerSpec) protocol.ServerSpec {
	if s.Command != "" {
		s.URL, s.Headers = "", nil
		s.Network = cmp.Or(s.Network, s.SuggestedNetwork())
	} else {
		s.Args, s.Env, s.Cwd, s.Network = nil, nil, "", ""
	}
	return s
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// literal is a part of a command line that a shell would leave as it is.
var literal = regexp.MustCompile(`'[^']*'`)

// parseCommand reads a command line with assignments of variables before it.
func parseCommand(text string) ([]protocol.FoundServer, error) {
	text = strings.TrimPrefix(text, "$ ")
	if bare := literal.ReplaceAllString(text, ""); strings.ContainsAny(bare, "|;<>`") || strings.Contains(bare, "$(") || strings.Contains(bare, "&&") {
		return nil, bad("A server is one command without pipes and other parts of a shell.")
	}
	list, err := words.Split(text)
	if err != nil {
		return nil, bad("The command cannot be read: " + err.Error() + ".")
	}
	var env map[string]string
	for len(list) > 0 && assignment.MatchString(list[0]) {
		if env == nil {
			env = make(map[string]string)
		}
		name, value, _ := strings.Cut(list[0], "=")
		env[name] = value
		list = list[1:]
	}
	if len(list) == 0 {
		return nil, bad("The command is missing.")
	}
	if isAdd(list) {
		return parseAdd(list)
	}
	spec := clean(protocol.ServerSpec{Command: list[0], Args: list[1:], Env: env})
	return []protocol.FoundServer{{Name: nameOf(spec), Spec: spec}}, nil
}

// starters are programs that start the program in their arguments.
var starters = []string{"npx", "bunx", "uvx", "pnpm", "yarn", "uv", "pipx", "python", "python3", "node", "deno", "docker", "podman", "run", "dlx", "exec", "cmd", "tool"}

var noise = regexp.MustCompile(`^(mcp-server-|server-|mcp-)|(-mcp-server|-server|-mcp)$`)

// nameOf suggests the name of a server: its package without what all packages of servers are called.
func nameOf(spec protocol.ServerSpec) protocol.ServerName {
	if spec.URL != "" {
		if u, err := url.Parse(spec.URL); err == nil {
			return nameOfHost(u)
		}
	}
	for _, w := range append([]string{spec.Command}, spec.Args...) {
		base := strings.TrimSuffix(path.Base(strings.ReplaceAll(w, `\`, "/")), ".exe")
		if strings.HasPrefix(w, "-") || slices.Contains(starters, strings.TrimSuffix(base, ".cmd")) || base == "/c" {
			continue
		}
		base, _, _ = strings.Cut(base, "@")
		base = strings.TrimSuffix(strings.TrimSuffix(base, ".js"), ".py")
		if short := noise.ReplaceAllString(base, ""); short != "" && short != "mcp" {
			base = short
		}
		if base != "" {
			return Name(base)
		}
	}
	return Name(spec.Command)
}

// nameOfHost suggests the name of a server at an address: mcp.example.com becomes example.
func nameOfHost(u *url.URL) protocol.ServerName {
	parts := strings.Split(u.Hostname(), ".")
	parts = slices.DeleteFunc(parts, func(p string) bool { return slices.Contains([]string{"mcp", "www", "api"}, p) })
	switch {
	case len(parts) == 4 && !strings.ContainsFunc(parts[0]+parts[3], func(r rune) bool { return r < '0' || r > '9' }):
		return Name("server-" + strings.Join(parts, "-"))
	case len(parts) > 1:
		return Name(parts[len(parts)-2])
	case len(parts) == 1:
		return Name(parts[0])
	}
	return "server"
}

var invalid = regexp.MustCompile(`[^A-Za-z0-9-]+`)

// Name makes a valid name of a server out of any text.
func Name(text string) protocol.ServerName {
	text = strings.Trim(invalid.ReplaceAllString(text, "_"), "_")
	if text = strings.Trim(text[:min(len(text), 32)], "_"); text == "" || strings.EqualFold(text, string(protocol.NativePrefix)) {
		text = "server"
	}
	return protocol.ServerName(text)
}

// Find returns the servers that other programs of the person use, with the program and the file. A
// file that cannot be read is left out, and so is Fairlead itself. Servers of different projects
// get different names, unless their settings are the same.
func Find(home, config string) []protocol.FoundServer {
	list := []protocol.FoundServer{}
	for _, c := range clients.All(home, config) {
		servers, err := c.Servers()
		if err != nil {
			continue
		}
		for _, s := range servers {
			spec, ok := specOf(s.Entry)
			if !ok || s.Name == clients.Name {
				continue
			}
			spec.Disabled = spec.Disabled || s.Disabled
			f := protocol.FoundServer{Name: Name(s.Name), Spec: spec, Source: c.Title, Path: c.Path, Project: s.Project}
			if s.Project != "" && slices.ContainsFunc(list, func(other protocol.FoundServer) bool { return clash(f, other) }) {
				f.Name = Name(s.Name + "_" + filepath.Base(s.Project))
			}
			list = append(list, f)
		}
	}
	return list
}

// clash reports whether two servers have the same name but not the same settings. Many projects
// list the same server, which one may have turned off.
func clash(a, b protocol.FoundServer) bool {
	a.Spec.Disabled = b.Spec.Disabled
	return a.Name == b.Name && !reflect.DeepEqual(a.Spec, b.Spec)
}
