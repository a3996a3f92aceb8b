package servers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/message"
	"fairlead/gateway/store"
)

// Limits of what a server says about its tools.
const (
	maxTools       = 1000
	maxDescription = 8_000   // bytes that a model gets
	maxSchema      = 100_000 // bytes; a tool with a larger schema is left out
)

// remoteTool is a tool of a server.
type remoteTool struct {
	name        string // as the server calls it
	public      string // as models see it, without the server
	title       string
	description string
	schema      []byte
	effect      protocol.Effect // as the server claims
	risk        string          // what the server warns of, for people; may be empty
	hash        string          // of everything that the person accepts
	definition  string          // the same, for people
}

// refresh reads the tools of the server.
func (s *server) refresh(ctx context.Context) error {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session == nil {
		return nil
	}
	var list []remoteTool
	if c := session.InitializeResult().Capabilities; c != nil && c.Tools != nil {
		all, err := readPages(ctx, &s.log, "tools", maxTools, func(ctx context.Context, cursor string) ([]*mcp.Tool, string, error) {
			r, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Tools, r.NextCursor, nil
		})
		if err != nil {
			return err
		}
		list = readTools(&s.log, all)
	}
	setPublicNames(s.name, list)
	s.mu.Lock()
	s.tools = list
	s.mu.Unlock()
	s.m.accepted.first(ctx, s.name, list)
	s.review.wake.Send()
	return nil
}

// readTools reads the descriptions of the tools that models can use. Of tools with the same name,
// the first counts: a call could not say which one it means.
func readTools(log *ring, all []*mcp.Tool) (list []remoteTool) {
	seen := make(map[string]bool)
	for _, t := range all {
		switch {
		case len(list) == maxTools:
			log.addf("The server has more than %d tools: the others are left out", maxTools)
			return list
		case seen[t.Name]:
			log.addf("Another tool %q is left out: a tool of the server has this name already", format.Line(t.Name, maxTitle))
			continue
		}
		seen[t.Name] = true
		if one, ok := readTool(log, t); ok {
			list = append(list, one)
		}
	}
	return list
}

// readTool reads the description of a tool; ok is false if no model could use it.
func readTool(log *ring, t *mcp.Tool) (out remoteTool, ok bool) {
	schema, err := protocol.Marshal(t.InputSchema)
	problem := ""
	switch {
	case t.Name == "":
		problem = "it has no name"
	case err != nil:
		problem = "its schema cannot be read"
	case len(schema) > maxSchema:
		problem = fmt.Sprintf("its schema has more than %d bytes", maxSchema)
	}
	if problem != "" {
		log.addf("The tool %q is left out: %s", format.Line(t.Name, maxTitle), problem)
		return out, false
	}
	if !message.IsObjectSchema(t.InputSchema) {
		log.addf("The schema of the tool %q is invalid: the tool takes any arguments", format.Line(t.Name, maxTitle))
		schema = []byte(`{"type":"object"}`)
	}
	out = remoteTool{name: t.Name, title: t.Title, description: t.Description, schema: schema}
	if a := t.Annotations; a != nil {
		out.title = cmp.Or(out.title, a.Title)
		out.effect = effectOf(a)
		if !a.ReadOnlyHint && a.DestructiveHint != nil && *a.DestructiveHint {
			out.risk = "this can delete or overwrite something"
		}
	}
	whole, err := protocol.Marshal([]any{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations})
	if err != nil {
		return out, false
	}
	if whole, err = protocol.Canonical(whole); err != nil {
		return out, false
	}
	sum := sha256.Sum256(whole)
	out.hash, out.definition = hex.EncodeToString(sum[:]), definition(t)
	return out, true
}

// definition returns what the person accepts of a tool, with one property a line.
func definition(t *mcp.Tool) string {
	raw, err := json.MarshalIndent(map[string]any{
		"title": t.Title, "description": t.Description, "inputSchema": t.InputSchema, "outputSchema": t.OutputSchema, "annotations": t.Annotations,
	}, "", "  ")
	if err != nil {
		return ""
	}
	return string(raw) + "\n"
}

// effectOf returns the effect that a server claims. A tool that reaches an open world counts as one
// that uses the network.
func effectOf(a *mcp.ToolAnnotations) protocol.Effect {
	switch {
	case a.OpenWorldHint != nil && *a.OpenWorldHint:
		return protocol.EffectNetwork
	case a.ReadOnlyHint:
		return protocol.EffectRead
	case a.DestructiveHint != nil || a.IdempotentHint:
		return protocol.EffectWrite
	}
	return protocol.EffectUnknown
}

var notToolName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// suffixBytes is the length of the part of a hash that makes a changed name unique.
const suffixBytes = 6

// setPublicNames gives each tool a name that the APIs of models accept and that no other tool of
// the server has. A name that is changed ends with a part of its hash, so that it stays the same.
func setPublicNames(server protocol.ServerName, list []remoteTool) {
	limit := protocol.MaxModelTool - len(server) - len("__")
	taken := make(map[string]bool)
	for i, t := range list { // the tools whose own names models accept
		if len(t.name) <= limit && !notToolName.MatchString(t.name) {
			list[i].public, taken[t.name] = t.name, true
		}
	}
	var others []int // in the order of their names, so that the server's order does not matter
	for i, t := range list {
		if t.public == "" {
			others = append(others, i)
		}
	}
	slices.SortFunc(others, func(a, b int) int { return strings.Compare(list[a].name, list[b].name) })
	for _, i := range others {
		clean := notToolName.ReplaceAllString(list[i].name, "_")
		sum := sha256.Sum256([]byte(list[i].name))
		name, hash := clean, hex.EncodeToString(sum[:])
		for n := suffixBytes; len(name) > limit || taken[name]; n++ {
			name = clean[:min(len(clean), limit-n-1)] + "_" + hash[:n]
		}
		list[i].public, taken[name] = name, true
	}
}

// describe describes a tool for people.
func (t remoteTool) describe(spec protocol.ServerSpec, accepted store.AcceptedTools) protocol.ServerTool {
	was := accepted[t.name]
	out := protocol.ServerTool{
		Name: t.name, Title: format.Line(t.title, maxTitle), Description: t.description, Effect: t.effect,
		Enabled: !slices.Contains(spec.DisabledTools, t.name), Changed: was.Hash != t.hash,
	}
	if out.Changed {
		out.Before = was.Description
		if was.Definition != "" {
			out.Diff = diff.New("accepted", "now", []byte(was.Definition), []byte(t.definition)).Text
		}
	}
	return out
}

// spec describes a tool for models and the policy.
func (t remoteTool) spec(server protocol.ServerName) protocol.ToolSpec {
	text := t.description
	if len(text) > maxDescription {
		text = format.Head(text, maxDescription) + " …"
	}
	return protocol.ToolSpec{
		Name: t.public, Description: text, InputSchema: t.schema, Effect: t.effect, Server: server, ServerTool: t.name, Title: format.Line(t.title, maxTitle), Risk: t.risk,
	}
}

// offeredTools lists the tools of a server that calls may use, with full names.
func (s *server) offeredTools() (list []protocol.ToolSpec) {
	accepted := s.m.accepted.of(s.name)
	_, isShadowed := s.m.machineNamed(s.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil || isShadowed {
		return nil
	}
	for _, t := range s.tools {
		if accepted[t.name].Hash != t.hash || slices.Contains(s.spec.DisabledTools, t.name) {
			continue
		}
		spec := t.spec(s.name)
		spec.Name = string(protocol.NewToolName(protocol.NodeID(s.name), t.public))
		list = append(list, spec)
	}
	return list
}

// Toolbox has the tools of the servers. It implements [tool.Servers].
type Toolbox struct{ m *Manager }

// Toolbox returns the tools of the servers.
func (m *Manager) Toolbox() Toolbox { return Toolbox{m} }

// Tools lists the tools of the connected servers, with their full names.
func (b Toolbox) Tools() (list []protocol.ToolSpec) {
	for _, s := range b.m.list() {
		list = append(list, s.offeredTools()...)
	}
	return list
}

// Has reports whether a server has the name, so that no machine is meant.
func (b Toolbox) Has(name protocol.NodeID) bool {
	if _, err := b.m.find(protocol.ServerName(name)); err != nil {
		return false
	}
	_, isShadowed := b.m.machineNamed(protocol.ServerName(name))
	return !isShadowed
}

// Lookup finds a tool by its full name. Errors are protocol.ErrNotFound, protocol.ErrUnavailable
// for a server that is not connected, and protocol.ErrForbidden for a tool that is turned off or
// waits for the person.
func (b Toolbox) Lookup(name protocol.ToolName) (protocol.ToolSpec, error) {
	_, spec, err := b.lookup(name)
	return spec, err
}

func (b Toolbox) lookup(name protocol.ToolName) (t remoteTool, spec protocol.ToolSpec, err error) {
	id, bare, _ := name.Split()
	s, err := b.m.find(protocol.ServerName(id))
	if err != nil {
		return t, spec, err
	}
	_, offline := s.connection()
	accepted := b.m.accepted.of(s.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if offline != nil && (s.state != protocol.ServerStarting || len(s.tools) == 0) { // a call waits for a server that starts again
		return t, spec, offline
	}
	i := slices.IndexFunc(s.tools, func(t remoteTool) bool { return t.public == bare })
	if i < 0 {
		return t, spec, protocol.ErrNotFound.With(fmt.Sprintf("the MCP server %s has no tool %.60q", s.name, bare))
	}
	t = s.tools[i]
	switch {
	case slices.Contains(s.spec.DisabledTools, t.name):
		return t, spec, protocol.ErrForbidden.With(fmt.Sprintf("the person turned off %s", name))
	case accepted[t.name].Hash != t.hash:
		return t, spec, protocol.ErrForbidden.With(fmt.Sprintf("%s waits for the person: its description has changed", name))
	}
	return t, t.spec(s.name), nil
}
