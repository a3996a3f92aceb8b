package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/words"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/message"
	"fairlead/gateway/servers/process"
	"fairlead/gateway/tool"
)

// transport is how a connection reaches its server.
type transport struct {
	mcp.Transport
	// paused gets the timer of the connection, which a sign-in stops; may be nil.
	paused *atomic.Pointer[time.Timer]
	// end breaks the connection. It may be called twice.
	end func()
	// ended returns why the server ended or does not answer, or nil.
	ended func() error
	// lastError returns the last line that the server wrote and that is no message, or ""; may be nil.
	lastError func() string
}

// wrote says what the server wrote last, as the end of a sentence; it may be empty.
func (t *transport) wrote() string {
	if t.lastError == nil || t.lastError() == "" {
		return ""
	}
	return "; it wrote: " + t.lastError()
}

// reason returns why a connection ended: because ctx did, or its server, or err.
func (t *transport) reason(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errNoAnswer) && t.lastError != nil {
		return fmt.Errorf("%w%s", cause, t.wrote())
	}
	return cmp.Or(cause, t.ended(), err)
}

// silenceLimit is the time after which the state of a server says that it has not answered yet.
const silenceLimit = 10 * time.Second

// noteSilence calls say after a time, and then less and less often, with how long the server has not
// answered, and what it wrote. The caller calls settled when it has, or does not start.
func (t *transport) noteSilence(ctx context.Context, say func(error)) (settled func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watch crash.Group
	watch.Go(func() {
		for waited, pause := time.Duration(0), silenceLimit; ; pause = waited {
			waitFor(ctx, pause, nil)
			if ctx.Err() != nil {
				return
			}
			waited += pause
			say(fmt.Errorf("it has not answered for %s%s", format.Duration(waited), t.wrote()))
		}
	})
	return func() {
		cancel()
		watch.Wait()
	}
}

// transport opens the way to the server. The caller calls its end.
func (s *server) transport(ctx context.Context, calls Calls) (t *transport, err error) {
	spec := s.settings()
	if spec.URL == "" {
		return s.startCommand(ctx, calls, spec)
	}
	u, err := url.Parse(spec.URL)
	if err != nil {
		return nil, err
	}
	conns := newConnections()
	requests := &requests{url: u, headers: spec.Headers, next: conns.transport(), checker: message.Checker{Logf: s.log.addf}}
	t = &transport{paused: new(atomic.Pointer[time.Timer]), ended: requests.reason, end: conns.close}
	client := &http.Client{Transport: requests, CheckRedirect: checkRedirect}
	if requests.isSSE() {
		t.Transport = &mcp.SSEClientTransport{Endpoint: spec.URL, HTTPClient: client}
		return t, nil
	}
	t.Transport = &mcp.StreamableClientTransport{Endpoint: spec.URL, HTTPClient: client, OAuthHandler: authorizer{s.login(t.paused, conns.signIn(), requests.fail)}}
	if hasAuthorization(spec.Headers) { // the person chose another way
		t.Transport = &mcp.StreamableClientTransport{Endpoint: spec.URL, HTTPClient: client}
	}
	return t, nil
}

var errOffline = errors.New("its machine is offline")

// machine returns the machine that runs the command: the chosen one, or the gateway's own. The error
// is an errOffline.
func (s *server) machine() (found protocol.NodeInfo, err error) {
	want := s.settings().Node
	name := string(want)
	host, _ := os.Hostname()
	for _, n := range s.m.o.Machines.Nodes() {
		if n.ID == want {
			name = n.DisplayName()
		}
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
		return found, fmt.Errorf("%w: %s", errOffline, name)
	case found.ID == "":
		return found, fmt.Errorf("%w: no node runs on the gateway's own machine; start one, or choose another machine for the server", errOffline)
	}
	return found, nil
}

// hasNetwork reports whether a server may use the network on a machine, as far as is known.
func hasNetwork(n protocol.NodeInfo) bool {
	return n.Host == nil || n.Host.Enforcement == nil || n.Host.Enforcement.Network != "blocked" || n.Host.Enforcement.Lends
}

// networkHint says why a server has no network, and what to do if it needs it; empty if it has.
func networkHint(name protocol.ServerName, spec protocol.ServerSpec, n protocol.NodeInfo) string {
	switch {
	case spec.Network == protocol.ServerNetworkNo && spec.NeedsNetwork():
		return fmt.Sprintf("this program fetches what it starts and needs the network, but the server has none; to allow it: fairlead servers network %s yes", name)
	case spec.Network == protocol.ServerNetworkNo:
		return fmt.Sprintf("the server has no network; if it needs it: fairlead servers network %s yes", name)
	case !hasNetwork(n):
		return fmt.Sprintf("the network is blocked for commands on %s; if the server needs it, start the machine's node with --network ask", n.DisplayName())
	case spec.Network == protocol.ServerNetworkFetch:
		return fmt.Sprintf("the server has the network only to fetch its package; if it needs it later: fairlead servers network %s yes", name)
	}
	return ""
}

// processArgs returns what its machine gets to start a server, without the variables.
func processArgs(name protocol.ServerName, spec protocol.ServerSpec) (process.Args, error) {
	args := process.Args{Server: string(name), Workdir: spec.Cwd}
	run := append([]string{spec.Command}, spec.Args...)
	if spec.Network == protocol.ServerNetworkFetch {
		fetch, offline, ok := spec.FetchCommands()
		if !ok {
			return args, errors.New(spec.CannotFetch())
		}
		args.Fetch, run = words.Join(fetch), offline
	}
	args.Command = words.Join(run)
	return args, nil
}

// startCommand starts the command on its machine. Its start is an action of the person: only a deny
// rule stops it. The journal records it with the choice of the network, without the variables.
func (s *server) startCommand(ctx context.Context, calls Calls, spec protocol.ServerSpec) (*transport, error) {
	machine, err := s.machine()
	if err != nil {
		return nil, err
	}
	node := machine.ID
	args, err := processArgs(s.name, spec)
	if err != nil {
		return nil, err
	}
	shown, err := protocol.Marshal(args)
	if err != nil {
		return nil, err
	}
	args.Env = spec.Env
	starter := fmt.Sprintf("MCP server %s, %s", s.name, spec.NetworkText())
	allowed, err := calls.Authorize(ctx, tool.Call{
		Tool: protocol.NewToolName(node, process.Tool), Args: shown, Principal: auth.Owner(starter), AskedBy: protocol.AskedBy{Kind: "client", Name: starter}, Direct: true,
	})
	if err != nil {
		if errors.Is(err, protocol.ErrNotFound) {
			err = fmt.Errorf("the machine %s runs a version of Fairlead that cannot run MCP servers: update it", machine.DisplayName())
		}
		return nil, err
	}
	if args.Fetch != "" {
		s.log.addf("Fetching on %s: %s", machine.DisplayName(), args.Fetch)
	}
	s.log.addf("Starting on %s: %s", machine.DisplayName(), args.Command)
	p, err := process.Start(ctx, process.Options{
		Continue: calls.Continue, Call: allowed.ID(), Owner: auth.Owner(starter), Args: args, Log: &s.log, Logf: s.log.addf,
		Network: spec.MayUseNetwork(), NoNetwork: networkHint(s.name, spec, machine),
	})
	if e := allowed.Finish(context.WithoutCancel(ctx), map[string]bool{"started": err == nil}, err); e != nil && err == nil {
		p.Stop()
		err = e
	}
	if err != nil {
		return nil, err
	}
	return &transport{Transport: p, ended: p.Ended, end: p.Stop, lastError: p.LastError}, nil
}
