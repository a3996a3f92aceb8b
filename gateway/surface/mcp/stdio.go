package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio connects a client that talks over standard input and output with a gateway: it offers what
// the gateway offers to the token.
type Stdio struct {
	Endpoint string // address of the gateway's /mcp
	Token    string
	Version  string
}

// bearerTransport adds a token to every request.
type bearerTransport string

func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// relay passes the requests of one side on to the other.
type relay struct {
	gateway *mcp.ClientSession
	server  *mcp.Server

	mu       sync.Mutex // guards the fields below
	progress map[string]func(context.Context, *mcp.ProgressNotificationParams)
	next     int
	tools    map[string]bool
}

// Serve serves until the client closes its end or ctx ends. Only messages of the protocol are
// written to out.
func (s Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	r := &relay{progress: make(map[string]func(context.Context, *mcp.ProgressNotificationParams)), tools: make(map[string]bool)}
	own := &mcp.Implementation{Name: "fairlead", Title: "Fairlead", Version: s.Version}
	client := mcp.NewClient(own, &mcp.ClientOptions{
		ProgressNotificationHandler: r.reported,
		ToolListChangedHandler:      func(ctx context.Context, _ *mcp.ToolListChangedRequest) { r.listTools(ctx) },
	})
	var err error
	r.gateway, err = client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.Endpoint, HTTPClient: &http.Client{Transport: bearerTransport(s.Token)}}, nil)
	if err != nil {
		return fmt.Errorf("connect to Fairlead at %s: %w", s.Endpoint, err)
	}
	defer r.gateway.Close()
	r.server = mcp.NewServer(own, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{},
		CompletionHandler: func(ctx context.Context, q *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return r.gateway.Complete(ctx, q.Params)
		},
	})
	if err := r.listTools(ctx); err != nil {
		return err
	}
	if err := r.listRest(ctx); err != nil {
		return err
	}
	ends := newPending(in, out)
	err = r.server.Run(ctx, &mcp.IOTransport{Reader: ends, Writer: ends})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// listTools makes the tools those that the gateway offers now.
func (r *relay) listTools(ctx context.Context) error {
	gone := make(map[string]bool)
	r.mu.Lock()
	for name := range r.tools {
		gone[name] = true
	}
	r.mu.Unlock()
	for t, err := range r.gateway.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the tools: %w", err)
		}
		delete(gone, t.Name)
		r.server.AddTool(t, r.call)
		r.mu.Lock()
		r.tools[t.Name] = true
		r.mu.Unlock()
	}
	for name := range gone {
		r.server.RemoveTools(name)
		r.mu.Lock()
		delete(r.tools, name)
		r.mu.Unlock()
	}
	return nil
}

// listRest makes the resources and prompts those that the gateway offers.
func (r *relay) listRest(ctx context.Context) error {
	read := func(ctx context.Context, q *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return r.gateway.ReadResource(ctx, q.Params)
	}
	for x, err := range r.gateway.Resources(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the resources: %w", err)
		}
		r.server.AddResource(x, read)
	}
	for x, err := range r.gateway.ResourceTemplates(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the resources: %w", err)
		}
		r.server.AddResourceTemplate(x, read)
	}
	for x, err := range r.gateway.Prompts(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the prompts: %w", err)
		}
		r.server.AddPrompt(x, func(ctx context.Context, q *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return r.gateway.GetPrompt(ctx, q.Params)
		})
	}
	return nil
}

// call passes a call on, and its progress back.
func (r *relay) call(ctx context.Context, q *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	params := &mcp.CallToolParams{Name: q.Params.Name, Arguments: q.Params.Arguments}
	if token := q.Params.GetProgressToken(); token != nil {
		r.mu.Lock()
		r.next++
		own := fmt.Sprint("call ", r.next)
		r.progress[own] = func(ctx context.Context, p *mcp.ProgressNotificationParams) {
			passed := *p
			passed.ProgressToken = token
			q.Session.NotifyProgress(ctx, &passed)
		}
		r.mu.Unlock()
		defer func() {
			r.mu.Lock()
			delete(r.progress, own)
			r.mu.Unlock()
		}()
		params.SetProgressToken(own)
	}
	return r.gateway.CallTool(ctx, params)
}

// reported passes a report of the gateway on to the client whose call it is about.
func (r *relay) reported(ctx context.Context, n *mcp.ProgressNotificationClientRequest) {
	r.mu.Lock()
	pass := r.progress[fmt.Sprint(n.Params.ProgressToken)]
	r.mu.Unlock()
	if pass != nil {
		pass(ctx, n.Params)
	}
}
