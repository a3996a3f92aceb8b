package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Server is an entry in a client's list.
type Server struct {
	Name  string
	Entry json.RawMessage // the settings as the client writes them
	// Project is the folder of the only project in which the client uses the server; empty: in all.
	Project string
	// Disabled means that the person switched the server off outside of its entry.
	Disabled bool
}

// read returns the file's content; a missing file is empty.
func (c Client) read() ([]byte, error) {
	data, err := os.ReadFile(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// HasFairlead reports whether Fairlead is in the client's list.
func (c Client) HasFairlead() bool {
	data, err := c.read()
	if err != nil {
		return false
	}
	if c.toml {
		from, _ := section(data, c.key+"."+Name)
		return from >= 0
	}
	servers, _ := c.servers(data)
	_, ok := servers[Name]
	return ok
}

// project has what Claude Code stores about a folder in ~/.claude.json: the servers of the scope
// "local", and the names of those that are turned off there.
type project struct {
	Servers  map[string]json.RawMessage `json:"mcpServers"`
	Disabled []string                   `json:"disabledMcpServers"`
}

// Servers returns the entries of the client's list by name, then those of single projects. Those of
// a TOML file are not read.
func (c Client) Servers() ([]Server, error) {
	data, err := c.read()
	if err != nil || c.toml {
		return nil, err
	}
	everywhere, err := c.servers(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.Path, err)
	}
	var list []Server
	for _, name := range slices.Sorted(maps.Keys(everywhere)) {
		list = append(list, Server{Name: name, Entry: everywhere[name]})
	}
	if c.ID != "claude-code" {
		return list, nil
	}
	file, _ := members(data) // c.servers has read it without an error
	var projects map[string]project
	_ = json.Unmarshal(file["projects"], &projects) // a project of another form has no servers
	for _, path := range slices.Sorted(maps.Keys(projects)) {
		p := projects[path]
		for _, name := range slices.Sorted(maps.Keys(p.Servers)) {
			list = append(list, Server{name, p.Servers[name], path, slices.Contains(p.Disabled, name)})
		}
	}
	return list, nil
}

// servers returns the entries in the list of a JSON file by name.
func (c Client) servers(data []byte) (servers map[string]json.RawMessage, err error) {
	file, err := members(data)
	if err == nil && len(file[c.key]) > 0 {
		err = json.Unmarshal(file[c.key], &servers)
	}
	return servers, err
}

// members returns the members of a JSON file that may have comments. An empty file has none.
func members(data []byte) (file map[string]json.RawMessage, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	plain, err := hujson.Standardize(bytes.Clone(data))
	if err != nil {
		return nil, syntaxError(err)
	}
	return file, json.Unmarshal(plain, &file)
}

// syntaxError says where a file is no JSON, without the words of the parser.
func syntaxError(err error) error {
	place, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ") // line 2, column 5
	return fmt.Errorf("it is not valid JSON (%s)", place)
}
