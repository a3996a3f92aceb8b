package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
)

// Stdio connects a client that talks over standard input and output with a gateway: it offers what
// the gateway offers to the token.
type Stdio struct {
	Endpoint string // address of the gateway's /mcp
	Token    string
	Version  string

	drainTime time.Duration // see [pending]; 0 for the default
}

// relay passes the requests of one side on to the other.
type relay struct {
	dial    func(ctx context.Context) (link, error) // connects with the gateway
	server  *mcp.Server
	serving context.Context // ends when the client waits for no answer any more, and its calls with it

	mu      sync.Mutex // guards the fields below
	current link
	watched map[string]bool // addresses of resources to which the client is subscribed

	subscribing  chan struct{} // has room for the subscription that waits for its acknowledgement
	acknowledged chan []string // addresses that an acknowledgement accepts; has room for one

	listing  sync.Mutex // guards the lists
	tools    lists      // by name
	prompts  lists      // by name
	contents lists      // by address
}

// gateway returns the present connection.
func (r *relay) gateway() *mcp.ClientSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current.ClientSession
}

// Serve serves until the client closes its end or ctx ends. Only messages of the protocol are
// written to out.
func (s Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	r := s.relay()
	var err error
	if r.current, err = r.dial(ctx); err != nil {
		return fmt.Errorf("connect to Fairlead at %s: %w", s.Endpoint, err)
	}
	defer func() { r.gateway().Close() }()
	if err := r.list(ctx); err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	r.serving = serving
	var staysConnected crash.Group
	staysConnected.Go(func() { r.stayConnected(serving) })
	defer staysConnected.Wait()
	defer stop()
	ends := newPending(in, out, stop)
	ends.drainTime = cmp.Or(s.drainTime, drainTime)
	err = r.server.Run(ctx, &mcp.IOTransport{Reader: ends, Writer: ends})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (s Stdio) relay() *relay {
	r := &relay{
		serving: context.Background(), watched: make(map[string]bool), tools: make(lists), prompts: make(lists), contents: make(lists),
		subscribing: make(chan struct{}, 1), acknowledged: make(chan []string, 1),
	}
	own := &mcp.Implementation{Name: "fairlead", Title: "Fairlead", Version: s.Version}
	client := mcp.NewClient(own, &mcp.ClientOptions{
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true}, // questions are for the client at the other end
		ProgressNotificationHandler: r.passOnReport,
		ToolListChangedHandler:      func(ctx context.Context, _ *mcp.ToolListChangedRequest) { r.list(ctx) },
		PromptListChangedHandler:    func(ctx context.Context, _ *mcp.PromptListChangedRequest) { r.list(ctx) },
		ResourceListChangedHandler:  func(ctx context.Context, _ *mcp.ResourceListChangedRequest) { r.list(ctx) },
		ResourceUpdatedHandler: func(ctx context.Context, n *mcp.ResourceUpdatedNotificationRequest) {
			r.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: n.Params.URI})
		},
	})
	client.AddReceivingMiddleware(answerFailures, r.passAcknowledgements)
	r.dial = func(ctx context.Context) (link, error) {
		t := &linkTransport{token: s.Token, lost: make(chan struct{}, 1)}
		session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.Endpoint, HTTPClient: &http.Client{Transport: t}}, nil)
		if status := t.refusal.Load(); err != nil && status != nil {
			err = fmt.Errorf("it answered %q instead of MCP: it is another program, or another version of Fairlead", *status)
		}
		return link{session, t.lost}, err
	}
	// It exists before the gateway can send a notification.
	r.server = mcp.NewServer(own, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{},
		CompletionHandler: func(ctx context.Context, q *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return r.gateway().Complete(ctx, q.Params)
		},
		SubscribeHandler: func(ctx context.Context, q *mcp.SubscribeRequest) error {
			return r.subscribe(ctx, q.Params.URI)
		},
		UnsubscribeHandler: func(ctx context.Context, q *mcp.UnsubscribeRequest) error {
			return r.unsubscribe(ctx, q.Params.URI)
		},
	})
	r.server.AddReceivingMiddleware(answerFailures, r.instruct)
	r.server.AddSendingMiddleware(askBriefly)
	return r
}

// instruct passes the instructions of the gateway on, which name the machines of the token.
func (r *relay) instruct(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, q mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, q)
		if err != nil {
			return res, err
		}
		switch res := res.(type) {
		case *mcp.InitializeResult:
			res.Instructions = r.gateway().InitializeResult().Instructions
		case *mcp.DiscoverResult:
			res.Instructions = r.gateway().InitializeResult().Instructions
		}
		return res, nil
	}
}

// list makes the lists those of the gateway. The server notifies its client of changes.
func (r *relay) list(ctx context.Context) error {
	r.listing.Lock()
	defer r.listing.Unlock()
	if err := r.listTools(ctx); err != nil {
		return fmt.Errorf("list the tools: %w", err)
	}
	if err := r.listResources(ctx); err != nil {
		return fmt.Errorf("list the resources: %w", err)
	}
	if err := r.listPrompts(ctx); err != nil {
		return fmt.Errorf("list the prompts: %w", err)
	}
	return nil
}

// update adds those of the gateway's items that are new or have changed, and returns the keys of
// those that are gone.
func update[T any](l lists, items iter.Seq2[T, error], key func(T) string, add func(T)) (removed []string, err error) {
	current := make(map[string]bool)
	for x, err := range items {
		if err != nil {
			return nil, err
		}
		current[key(x)] = true
		if l.recordItem(key(x), x) {
			add(x)
		}
	}
	return l.retain(current), nil
}

func (r *relay) listTools(ctx context.Context) error {
	removed, err := update(r.tools, r.gateway().Tools(ctx, nil), func(t *mcp.Tool) string { return t.Name }, func(t *mcp.Tool) {
		r.server.AddTool(t, r.call)
	})
	r.server.RemoveTools(removed...)
	return err
}

func (r *relay) listResources(ctx context.Context) error {
	read := func(ctx context.Context, q *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return r.gateway().ReadResource(ctx, q.Params)
	}
	removed, err := update(r.contents, r.gateway().Resources(ctx, nil), func(x *mcp.Resource) string { return x.URI }, func(x *mcp.Resource) {
		r.server.AddResource(x, read)
	})
	if err != nil {
		return err
	}
	r.server.RemoveResources(removed...)
	for x, err := range r.gateway().ResourceTemplates(ctx, nil) {
		if err != nil {
			return err
		}
		r.server.AddResourceTemplate(x, read)
	}
	return nil
}

func (r *relay) listPrompts(ctx context.Context) error {
	get := func(ctx context.Context, q *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return r.gateway().GetPrompt(ctx, q.Params)
	}
	removed, err := update(r.prompts, r.gateway().Prompts(ctx, nil), func(x *mcp.Prompt) string { return x.Name }, func(x *mcp.Prompt) {
		r.server.AddPrompt(x, get)
	})
	r.server.RemovePrompts(removed...)
	return err
}

// call passes a call on, with its progress token: the one client's tokens are unique.
func (r *relay) call(ctx context.Context, q *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer crash.WhenDone(r.serving, cancel)()
	params := &mcp.CallToolParams{
		Name: q.Params.Name, Arguments: q.Params.Arguments, InputResponses: q.Params.InputResponses, RequestState: q.Params.RequestState,
		Meta: mcp.Meta{mcp.MetaKeyClientCapabilities: capabilities(q)}, // the gateway asks only what the client can show
	}
	if token := q.Params.GetProgressToken(); token != nil {
		params.Meta["progressToken"] = token // as it is: the SDK's setter panics at a number of JSON
	}
	return r.gateway().CallTool(ctx, params)
}

// passOnReport passes a report of the gateway on.
func (r *relay) passOnReport(ctx context.Context, n *mcp.ProgressNotificationClientRequest) {
	for s := range r.server.Sessions() {
		s.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: n.Params.ProgressToken, Progress: n.Params.Progress, Total: n.Params.Total, Message: n.Params.Message,
		})
	}
}

// capabilities are those of the client that the gateway must know.
func capabilities(q *mcp.CallToolRequest) map[string]any {
	if canAsk(q) {
		return map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}
	}
	return map[string]any{}
}
