package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// client is the server for one token: what it sees follows its scopes.
type client struct {
	o         Options
	calls     calls
	server    *mcp.Server
	documents []document
	watchable []string  // addresses of the resources that Options.Extend has added
	used      time.Time // guarded by Server.mu
	files     watchedFiles
	refused   refusals

	mu        sync.Mutex      // guards the fields below
	principal auth.Principal  // of the last request; the lists are for it
	stale     bool            // the lists may be out of date
	tools     lists           // by name
	prompts   lists           // by name
	contents  lists           // resources, by address
	dirty     map[string]bool // addresses of resources that changed and are not reported yet
	notifying bool            // a goroutine reports dirty
}

// lists are the descriptions, as JSON, of what a server lists.
type lists map[string]string

// recordItem records an item and reports whether it is new or different.
func (l lists) recordItem(key string, item any) bool {
	raw, err := protocol.Marshal(item)
	if err == nil && l[key] == string(raw) {
		return false
	}
	l[key] = string(raw)
	return true
}

// retain removes the items that are not in keys, and returns them.
func (l lists) retain(keys map[string]bool) (removed []string) {
	for key := range l {
		if !keys[key] {
			delete(l, key)
			removed = append(removed, key)
		}
	}
	return removed
}

const instructions = "Fairlead lets you use the machines of one person. Call network_directory first; a target needs its node_id or node_name. " +
	"Calls that change something may wait until the person has answered in Fairlead; approval_required means that they have not answered yet: repeat the same call."

func newClient(o Options) *client {
	c := &client{o: o, documents: o.documents(), calls: calls{o.Tools}, stale: true, tools: make(lists), prompts: make(lists), contents: make(lists), dirty: make(map[string]bool), files: watchedFiles{all: make(map[string]*watchedFile)}}
	c.server = mcp.NewServer(&mcp.Implementation{Name: "fairlead", Title: "Fairlead", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}, CompletionHandler: completion{c.calls}.complete,
		SubscribeHandler: c.subscribe,
		UnsubscribeHandler: func(_ context.Context, r *mcp.UnsubscribeRequest) error {
			c.files.remove(r.Params.URI, r.Session)
			return nil
		},
		SetCacheable: func(_ context.Context, _ mcp.Request, x *mcp.Cacheable) {
			x.CacheScope, x.TTLMs = "private", 0
		},
	})
	c.server.AddReceivingMiddleware(answerFailures, c.watchableOnly, c.nameWorkspaces)
	c.server.AddSendingMiddleware(askBriefly)
	c.server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: fileURI, Name: "file", Title: "File", Description: "A file of a machine, by its absolute path; at most 1 MiB",
	}, c.readFile)
	if o.Extend != nil {
		c.watchable = o.Extend(c.server)
	}
	return c
}

// nameWorkspaces adds the workspace of each machine to the instructions for a client that may see
// the machines.
func (c *client) nameWorkspaces(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, r)
		p := who(r.GetExtra())
		if err != nil || !mayListMachines(p) {
			return res, err
		}
		switch res := res.(type) {
		case *mcp.InitializeResult:
			res.Instructions += c.workspaces(p)
		case *mcp.DiscoverResult:
			res.Instructions += c.workspaces(p)
		}
		return res, err
	}
}

// maxNamed is the number of machines that the instructions name.
const maxNamed = 20

// workspaces names the workspaces of the machines that a client may use.
func (c *client) workspaces(p auth.Principal) string {
	var list []string
	for _, n := range c.o.Machines.MachinesOf(p) {
		if n.Host != nil && n.Host.Workspace != "" && len(list) < maxNamed {
			list = append(list, fmt.Sprintf("%s: %s", n.ID, n.Host.Workspace))
		}
	}
	if list == nil {
		return ""
	}
	return " Workspaces, in which reading needs no answer: " + strings.Join(list, ", ") + "."
}

// principalKey is the name of the principal among what the SDK keeps about a request's token.
const principalKey = "principal"

// connectionKey is the name of the context of the HTTP request there.
const connectionKey = "connection"

// whileConnected returns a context that also ends when the client of a call has hung up: no later
// request could fetch the result, because streams cannot be resumed. The SDK does that only for the
// newest version.
func whileConnected(ctx context.Context, x *mcp.RequestExtra) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if x == nil || x.TokenInfo == nil {
		return ctx, cancel
	}
	connection, ok := x.TokenInfo.Extra[connectionKey].(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := crash.WhenDone(connection, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// who returns who made a request: nobody, if the SDK does not say. An app can have tokens with
// different scopes, so that those of another request do not count.
func who(x *mcp.RequestExtra) auth.Principal {
	if x == nil || x.TokenInfo == nil {
		return auth.Principal{}
	}
	p, _ := x.TokenInfo.Extra[principalKey].(auth.Principal)
	return p
}

// update makes the lists those that the token of a request may use now. The server notifies clients
// of changes.
func (c *client) update(p auth.Principal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.principal.HasSameRights(p) {
		c.principal, c.stale = p, true
	}
	c.refresh()
}

// refresh makes the lists anew if they may be out of date. The caller holds c.mu.
func (c *client) refresh() {
	if !c.stale {
		return
	}
	c.stale = false
	c.updateTools()
	c.updateResources()
	c.updatePrompts()
}

// updateTools lists the tools. The caller holds c.mu.
func (c *client) updateTools() {
	current := make(map[string]bool)
	for _, t := range c.o.Tools.Tools(c.principal) {
		current[t.Name] = true
		described := describe(t)
		if c.tools.recordItem(t.Name, described) {
			c.server.AddTool(described, c.call)
		}
	}
	c.server.RemoveTools(c.tools.retain(current)...)
}

// call runs a tool. A failure is a result for the model, with the failure as JSON.
func (c *client) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, done := whileConnected(ctx, r.Extra)
	defer done()
	if id := withdrawn(r); id != "" {
		return result(c.o.Waiting.Withdraw(ctx, who(r.Extra), id)), nil
	}
	if f := unansweredFault(r); f != nil {
		return failure(f), nil
	}
	in := catalog.Request{Tool: r.Params.Name, Args: r.Params.Arguments}
	var chunks []json.RawMessage
	if token := r.Params.GetProgressToken(); token != nil {
		n := 0.0
		in.Emit = func(ctx context.Context, p job.Part) error {
			if p.Kind == job.PartChunk {
				chunks = append(chunks, p.Data)
			}
			n++
			return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: progressText(p)})
		}
	}
	out, err := c.o.Tools.Call(ctx, who(r.Extra), in)
	if q := question(r, err); q != nil {
		return q, nil
	}
	for isAccepted(r) && isWaiting(err) && ctx.Err() == nil {
		if in.Emit != nil { // progress keeps the client from giving up
			in.Emit(ctx, job.Part{Kind: job.PartWaiting, Data: json.RawMessage(`{"message":"Fairlead's owner has not answered yet."}`)})
		}
		out, err = c.o.Tools.Call(ctx, who(r.Extra), in) // the same call, which still waits
	}
	out.Data = job.WithMatches(out.Data, chunks)
	return result(out, err), nil
}

// result returns the outcome of a call with its structure and the same as text.
func result(out job.Result, err error) *mcp.CallToolResult {
	if err != nil {
		return failure(err)
	}
	return &mcp.CallToolResult{StructuredContent: out.Data, Content: []mcp.Content{&mcp.TextContent{Text: string(out.Data)}}}
}

// progressText is the message of a progress notification.
func progressText(p job.Part) string {
	var w job.Waiting
	if p.Kind == job.PartWaiting && json.Unmarshal(p.Data, &w) == nil {
		return w.Message
	}
	return string(p.Data)
}

func failure(err error) *mcp.CallToolResult {
	raw, err := protocol.Marshal(map[string]*protocol.Fault{"error": protocol.AsFault(err)})
	if err != nil {
		raw = []byte("the call failed")
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}}
}
