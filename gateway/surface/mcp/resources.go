package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// mayReadGateway reports whether p may read what concerns the gateway and all machines: a token
// that is limited to some machines may not.
func mayReadGateway(p auth.Principal, scope protocol.Scope) bool {
	return tool.CheckAccess(p, protocol.NativePrefix, scope) == nil
}

// mayListMachines reports whether p may list the machines that it may use.
func mayListMachines(p auth.Principal) bool {
	return tool.CheckAccess(p, "", protocol.ScopeNetworkRead) == nil
}

func missingScope(s protocol.Scope) error {
	return protocol.NewFault(protocol.FaultForbidden, "the token needs the scope "+string(s)+" for all machines")
}

// promptScope is the scope that prompts need: skills are files of the agent.
const promptScope = protocol.ScopeFilesRead

// Addresses of resources.
const (
	machinesURI = scheme + "machines"
	fileURI     = scheme + "{machine}/file{+path}"
	scheme      = "fairlead://"
)

func machineURI(id protocol.NodeID) string { return machinesURI + "/" + string(id) }

// maxFile is the largest file that a client can read as a resource, in bytes.
const maxFile = 1 << 20

// updateResources lists the resources that the token may read: what is listed can also be watched.
// The caller holds c.mu.
func (c *client) updateResources() {
	current := make(map[string]bool)
	add := func(r *mcp.Resource, read mcp.ResourceHandler) {
		current[r.URI] = true
		if r.MIMEType = "application/json"; c.contents.recordItem(r.URI, r) {
			c.server.AddResource(r, read)
		}
	}
	if mayListMachines(c.principal) {
		add(&mcp.Resource{URI: machinesURI, Name: "machines", Title: "Machines", Description: "The machines that you may use"}, c.readMachines)
		for _, n := range c.o.Machines.MachinesOf(c.principal) {
			add(&mcp.Resource{URI: machineURI(n.ID), Name: string(n.ID), Title: n.DisplayName(), Description: "The state of a machine"}, c.readMachine)
		}
	}
	for _, d := range c.documents {
		if mayReadGateway(c.principal, documentScope) {
			add(&mcp.Resource{URI: d.uri(), Name: d.name, Title: d.name, Description: d.description}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return readDocument(ctx, who(r.Extra), d)
			})
		}
	}
	c.server.RemoveResources(c.contents.retain(current)...)
}

func (c *client) readMachines(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	out, err := c.o.Tools.Call(ctx, who(r.Extra), catalog.Request{Tool: "network_directory", Args: json.RawMessage(`{}`)})
	if err != nil {
		return nil, err
	}
	return text(r.Params.URI, "application/json", string(out.Data)), nil
}

func text(uri, kind, content string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: content}}}
}

// parseFileURI returns the machine and the path of a file's address.
func parseFileURI(uri string) (machine, file string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	machine, file, found := strings.Cut(rest, "/file/")
	machine, err := url.PathUnescape(machine)
	if !ok || !found || err != nil || machine == "" || strings.Contains(machine, "/") {
		return "", "", false
	}
	if file, err = url.PathUnescape(file); err != nil || file == "" {
		return "", "", false
	}
	if len(file) < 2 || file[1] != ':' { // C:/Users has no leading slash
		file = "/" + file
	}
	return machine, file, true
}

func (c *client) readFile(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	machine, file, ok := parseFileURI(r.Params.URI)
	if !ok {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	var part struct {
		ChunkB64 string `json:"chunk_b64"`
		Done     bool   `json:"done"`
	}
	if err := c.calls.run(ctx, who(r.Extra), "fs_read", map[string]any{"target": map[string]string{"node_name": machine}, "path": file, "max_bytes": maxFile}, &part); err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(part.ChunkB64)
	if err != nil {
		return nil, tool.FaultOf(fmt.Errorf("decode %s: %w", file, err))
	}
	if !part.Done {
		return nil, protocol.NewFault(protocol.FaultTooLarge, "the file has more than 1 MiB: read it with fs_read")
	}
	if utf8.Valid(raw) {
		return text(r.Params.URI, "text/plain", string(raw)), nil
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "application/octet-stream", Blob: raw}}}, nil
}

// readMachine returns what network_directory tells about one machine.
func (c *client) readMachine(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	var dir struct {
		Networks []struct{ Nodes []json.RawMessage }
	}
	if err := c.calls.run(ctx, who(r.Extra), "network_directory", map[string]any{}, &dir); err != nil {
		return nil, err
	}
	for _, n := range dir.Networks {
		for _, raw := range n.Nodes {
			var node struct{ ID protocol.NodeID }
			if json.Unmarshal(raw, &node) == nil && machineURI(node.ID) == r.Params.URI {
				return text(r.Params.URI, "application/json", string(raw)), nil
			}
		}
	}
	return nil, mcp.ResourceNotFoundError(r.Params.URI)
}

// updatePrompts makes the prompts the skills that exist now, if the token may read them. The caller
// holds c.mu.
func (c *client) updatePrompts() {
	var list []protocol.SkillStatusEntry
	if mayReadGateway(c.principal, promptScope) {
		var err error
		if list, err = c.o.Skills.Usable(context.Background()); err != nil {
			return // the prompts stay as they are
		}
	}
	current := make(map[string]bool)
	for _, skill := range list {
		current[skill.Name] = true
		prompt := &mcp.Prompt{Name: skill.Name, Description: skill.Description}
		if !c.prompts.recordItem(skill.Name, prompt) {
			continue
		}
		c.server.AddPrompt(prompt, func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if !mayReadGateway(who(r.Extra), promptScope) {
				return nil, missingScope(promptScope)
			}
			content, err := c.o.Skills.Text(ctx, skill.Name)
			if err != nil {
				return nil, tool.FaultOf(err)
			}
			return &mcp.GetPromptResult{Description: skill.Description, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: content}}}}, nil
		})
	}
	c.server.RemovePrompts(c.prompts.retain(current)...)
}
