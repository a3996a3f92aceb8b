package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/words"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// transport is how a connection reaches its server.
type transport struct {
	mcp.Transport
	// paused gets the timer of the connection, which a sign-in stops; may be nil.
	paused *atomic.Pointer[time.Timer]
	// end breaks the connection. It may be called twice.
	end func()
	// ended returns why the server ended, or nil while it runs.
	ended func() error
}

// transport opens the way to the server. The caller calls its end.
func (s *server) transport(ctx context.Context) (t *transport, err error) {
	spec := s.settings()
	if spec.URL == "" {
		return s.startCommand(ctx, spec)
	}
	u, err := url.Parse(spec.URL)
	if err != nil {
		return nil, err
	}
	conns := &connections{open: make(map[*connection]bool)}
	t = &transport{paused: new(atomic.Pointer[time.Timer]), ended: func() error { return nil }, end: conns.close}
	client := &http.Client{Transport: withHeaders{u.Host, spec.Headers, conns.transport()}}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/sse") { // the transport of 2024-11-05
		t.Transport = &mcp.SSEClientTransport{Endpoint: spec.URL, HTTPClient: client}
		return t, nil
	}
	h := &signIn{server: s, paused: t.paused}
	t.Transport = &mcp.StreamableClientTransport{Endpoint: spec.URL, HTTPClient: client, OAuthHandler: h}
	if hasAuthorization(spec.Headers) { // the person chose another way
		t.Transport = &mcp.StreamableClientTransport{Endpoint: spec.URL, HTTPClient: client}
	}
	return t, nil
}

func hasAuthorization(headers map[string]string) bool {
	for name := range headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

// withHeaders adds the headers of a server to requests to its host, not to others after a redirect.
type withHeaders struct {
	host    string
	headers map[string]string
	next    http.RoundTripper
}

func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(w.headers) > 0 && r.URL.Host == w.host {
		r = r.Clone(r.Context())
		for name, value := range w.headers {
			r.Header.Set(name, value)
		}
	}
	return w.next.RoundTrip(r)
}

// connections are the network connections to a server, so that its end breaks requests that wait.
type connections struct {
	mu       sync.Mutex // guards the fields below
	open     map[*connection]bool
	isClosed bool
}

// connection is a network connection that leaves the list when it is closed.
type connection struct {
	net.Conn
	list *connections
}

func (c *connection) Close() error {
	c.list.mu.Lock()
	delete(c.list.open, c)
	c.list.mu.Unlock()
	return c.Conn.Close()
}

// transport returns a transport whose connections are recorded.
func (c *connections) transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.isClosed {
			conn.Close()
			return nil, net.ErrClosed
		}
		one := &connection{conn, c}
		c.open[one] = true
		return one, nil
	}
	return t
}

func (c *connections) close() {
	c.mu.Lock()
	c.isClosed = true
	open := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, conn := range open {
		conn.Close()
	}
}

var errOffline = errors.New("its machine is offline")

// machine returns the machine that runs the command: the chosen one, or the gateway's own. The error
// is an errOffline.
func (s *server) machine() (found protocol.NodeInfo, err error) {
	want := s.settings().Node
	host, _ := os.Hostname()
	for _, n := range s.m.o.Machines.Nodes() {
		switch {
		case !n.Online:
		case want != "" && n.ID == want, want == "" && n.Local:
			return n, nil
		case found.ID == "" && n.Host != nil && n.Host.Hostname == host && host != "":
			found = n // a node beside a gateway without one
		}
	}
	switch {
	case want != "":
		return found, fmt.Errorf("%w: %s", errOffline, want)
	case found.ID == "":
		return found, fmt.Errorf("%w: no node runs on the gateway's own machine; start one, or choose another machine for the server", errOffline)
	}
	return found, nil
}

// hasNetwork reports whether a server may use the network on a machine, as far as is known.
func hasNetwork(n protocol.NodeInfo) bool {
	return n.Host == nil || n.Host.Enforcement == nil || n.Host.Enforcement.Network != "blocked" || n.Host.Enforcement.Lends
}

// serveTool is the tool of machines that runs a server.
const serveTool = "serve"

// serveArgs are the arguments of the tool.
type serveArgs struct {
	Command string            `json:"command,omitempty"`
	Server  string            `json:"server,omitempty"`
	Workdir string            `json:"workdir,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Session string            `json:"session,omitempty"`
	Input   []byte            `json:"input,omitempty"` // Base64 in JSON
}

// servePart is a part of the output of the tool.
type servePart struct {
	Started bool   `json:"started"`
	Out     []byte `json:"out"`
	Err     []byte `json:"err"`
}

// startCommand starts the command on its machine. Its start is an action of the person: only a deny
// rule stops it, and it is recorded in the journal, without the variables.
func (s *server) startCommand(ctx context.Context, spec protocol.ServerSpec) (*transport, error) {
	machine, err := s.machine()
	if err != nil {
		return nil, err
	}
	node := machine.ID
	args := serveArgs{Command: words.Join(append([]string{spec.Command}, spec.Args...)), Server: string(s.name), Workdir: spec.Cwd}
	shown, err := protocol.Marshal(args)
	if err != nil {
		return nil, err
	}
	args.Env = spec.Env
	raw, err := protocol.Marshal(args)
	if err != nil {
		return nil, err
	}
	by := protocol.AskedBy{Kind: "client", Name: "MCP server " + string(s.name)}
	allowed, err := s.m.o.Authorize(ctx, tool.Call{
		Tool: protocol.NewToolName(node, serveTool), Args: shown, Principal: auth.Owner("MCP server " + string(s.name)), AskedBy: by, Direct: true,
	})
	if err != nil {
		if errors.Is(err, protocol.ErrNotFound) {
			err = fmt.Errorf("the machine %s runs a version of Fairlead that cannot run MCP servers: update it", node)
		}
		return nil, err
	}
	p := &process{machines: s.m.o.Machines, node: node, call: protocol.NewCallID(), log: &s.log, hasNetwork: hasNetwork(machine), started: make(chan struct{}), over: make(chan struct{})}
	p.out.ready = sync.NewCond(&p.out.mu)
	running, kill := context.WithCancel(context.WithoutCancel(ctx))
	s.log.addf("Starting %s on %s", args.Command, node)
	go p.run(running, raw)
	select {
	case <-p.started:
	case <-p.over:
		err = p.ended()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	end := sync.OnceFunc(func() {
		p.out.Close()
		kill()
		<-p.over
	})
	if e := allowed.Finish(context.WithoutCancel(ctx), map[string]bool{"started": err == nil}, err); err == nil {
		err = e
	}
	if err != nil {
		end()
		return nil, err
	}
	t := &transport{Transport: &mcp.IOTransport{Reader: &p.out, Writer: &input{p: p, ctx: running}}, ended: p.ended, end: end}
	return t, nil
}

// process is a command that runs on a machine.
type process struct {
	machines Machines
	node     protocol.NodeID
	call     protocol.CallID
	log      *ring
	// hasNetwork reports that the machine does not block the network for it.
	hasNetwork bool
	out        buffer
	started    chan struct{} // closed when it runs
	over       chan struct{} // closed when it has ended
	once       sync.Once
	err        error // why it ended; readable once over is closed
}

// run blocks until the command has ended.
func (p *process) run(ctx context.Context, args json.RawMessage) {
	defer close(p.over)
	inv := protocol.ToolInvoke{CallID: p.call, Tool: serveTool, Args: args, Direct: true, Network: true}
	raw, err := p.machines.Call(ctx, p.node, inv, func(r protocol.ToolProgress) {
		var part servePart
		if json.Unmarshal(r.Chunk, &part) != nil {
			return
		}
		if part.Started {
			p.once.Do(func() { close(p.started) })
		}
		p.log.Write(part.Err)
		p.out.add(part.Out)
	})
	p.out.Close()
	var exit struct {
		Code   *int   `json:"exitCode"`
		Signal string `json:"signal"`
	}
	switch {
	case err != nil:
		p.err = err
	case json.Unmarshal(raw, &exit) == nil && exit.Signal != "":
		p.err = fmt.Errorf("the command was ended by %s", exit.Signal)
	case exit.Code != nil:
		p.err = fmt.Errorf("the command ended with exit code %d", *exit.Code)
	default:
		p.err = errors.New("the command ended")
	}
	if !p.hasNetwork {
		p.err = fmt.Errorf("%w (the network is blocked for commands on %s; if the server needs it, start the machine's node with --network ask)", p.err, p.node)
	}
}

// endWait is how long a connection that broke waits for the end of its command, which says why.
const endWait = 3 * time.Second

// ended returns why the command ended. It waits a short time for its end.
func (p *process) ended() error {
	select {
	case <-p.over:
		return p.err
	case <-time.After(endWait):
		return nil
	}
}

// maxBuffer is how many bytes of a server may wait to be read.
const maxBuffer = 64 << 20

// buffer is what a server wrote and nobody has read.
type buffer struct {
	mu       sync.Mutex // guards the fields below
	ready    *sync.Cond
	data     bytes.Buffer
	isClosed bool
}

func (b *buffer) add(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data.Len()+len(data) > maxBuffer {
		b.isClosed = true // the connection fails rather than losing a part
	} else if !b.isClosed {
		b.data.Write(data)
	}
	b.ready.Broadcast()
}

// Read blocks until there is data, or the end.
func (b *buffer) Read(into []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.data.Len() == 0 && !b.isClosed {
		b.ready.Wait()
	}
	if b.data.Len() == 0 {
		return 0, io.EOF
	}
	return b.data.Read(into)
}

// Close ends reads, after the data that is there.
func (b *buffer) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isClosed = true
	b.ready.Broadcast()
	return nil
}

// input writes to the standard input of a command, and waits until its machine has done so.
type input struct {
	p   *process
	ctx context.Context // of the command
}

func (w *input) Write(data []byte) (int, error) {
	args, err := protocol.Marshal(serveArgs{Session: string(w.p.call), Input: data})
	if err != nil {
		return 0, err
	}
	inv := protocol.ToolInvoke{CallID: protocol.NewCallID(), Tool: serveTool, Args: args, Direct: true}
	if _, err := w.p.machines.Call(w.ctx, w.p.node, inv, nil); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Close does nothing: the end of the connection ends the command.
func (w *input) Close() error { return nil }
