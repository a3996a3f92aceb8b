package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
)

// client is the server for one token: what it sees follows its scopes.
type client struct {
	o      Options
	server *mcp.Server
	used   time.Time // guarded by Server.mu

	mu        sync.Mutex // guards the fields below
	principal auth.Principal
	tools     map[string]string // description and schema by name
	prompts   map[string]string // description by name
}

const instructions = "Fairlead lets you use the machines of one person. Call network_directory first. " +
	"Calls that change something may wait until the person has answered in Fairlead; approval_required means that they have not answered yet: repeat the same call."

func newClient(o Options) *client {
	c := &client{o: o, tools: make(map[string]string), prompts: make(map[string]string)}
	c.server = mcp.NewServer(&mcp.Implementation{Name: "fairlead", Title: "Fairlead", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}, CompletionHandler: c.complete,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		SetCacheable: func(_ context.Context, _ mcp.Request, x *mcp.Cacheable) {
			x.CacheScope, x.TTLMs = "private", 0
		},
	})
	c.addResources()
	return c
}

// who returns the principal of the last request, whose scopes count.
func (c *client) who() auth.Principal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.principal
}

// update makes the tools and prompts those that the token may use now. Clients with a session are
// told about changes.
func (c *client) update(p auth.Principal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.principal = p
	gone := make(map[string]bool)
	for name := range c.tools {
		gone[name] = true
	}
	for _, t := range c.o.Tools.Tools(p) {
		delete(gone, t.Name)
		version := t.Description + fmt.Sprintf("%p", t.In)
		if c.isExtra(t) {
			version = t.Description // its schema is made anew for each list
		}
		if c.tools[t.Name] == version {
			continue
		}
		c.tools[t.Name] = version
		no := func(b bool) *bool { return &b }
		c.server.AddTool(&mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.In, OutputSchema: t.Out,
			Annotations: &mcp.ToolAnnotations{Title: t.Title, ReadOnlyHint: t.ReadOnly, DestructiveHint: no(t.Destructive), IdempotentHint: t.Idempotent, OpenWorldHint: no(t.OpenWorld)},
		}, c.call)
	}
	for name := range gone {
		delete(c.tools, name)
		c.server.RemoveTools(name)
	}
	c.updatePrompts()
}

// isExtra reports whether a tool is one of a machine or of the gateway, under its own name.
func (c *client) isExtra(t catalog.Tool) bool {
	return len(t.Scopes) == 1 && t.Scopes[0] == protocol.ScopeAllTools
}

// call runs a tool. A failure is a result for the model, with the failure as JSON.
func (c *client) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	in := catalog.Request{Tool: r.Params.Name, Args: r.Params.Arguments}
	if token := r.Params.GetProgressToken(); token != nil {
		n := 0.0
		in.Emit = func(ctx context.Context, p catalog.Part) error {
			n++
			return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: progressText(p)})
		}
	}
	var chunks []json.RawMessage
	if emit := in.Emit; emit != nil {
		in.Emit = func(ctx context.Context, p catalog.Part) error {
			if p.Kind == catalog.PartChunk {
				chunks = append(chunks, p.Data)
			}
			return emit(ctx, p)
		}
	}
	out, err := c.o.Tools.Call(ctx, c.who(), in)
	if err != nil {
		return failure(err), nil
	}
	data := catalog.WithMatches(out.Data, chunks)
	return &mcp.CallToolResult{StructuredContent: data, Content: []mcp.Content{&mcp.TextContent{Text: string(data)}}}, nil
}

// progressText is the message of a progress notification.
func progressText(p catalog.Part) string {
	var w catalog.Waiting
	if p.Kind == catalog.PartWaiting && json.Unmarshal(p.Data, &w) == nil {
		return w.Message
	}
	return string(p.Data)
}

func failure(err error) *mcp.CallToolResult {
	f, ok := errors.AsType[*protocol.Fault](err)
	if !ok {
		f = protocol.NewFault(protocol.FaultInternal, "the call failed")
	}
	raw, err := protocol.Marshal(map[string]*protocol.Fault{"error": f})
	if err != nil {
		raw = []byte(f.Message)
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}}
}
