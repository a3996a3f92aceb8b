package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// dialLimit is how long a command waits for the gateway before it reports an error.
const dialLimit = 5 * time.Second

// findToken returns the token from --token-file, the environment, or this computer's keychain.
func (o *options) findToken() (string, error) {
	if o.tokenFile != "" {
		return readToken(o.tokenFile)
	}
	if t := keychain.FromEnv(); t != "" {
		return t.Reveal(), nil
	}
	home, err := o.homeDir()
	if err != nil {
		return "", err
	}
	t, err := keychain.Open(home).Get(gateway.TokenName)
	if errors.Is(err, keychain.ErrNotFound) {
		return "", protocol.ErrUnauthorized.With("there is no token on this computer: start a gateway here (fairlead gateway --node, or the desktop app), or set FAIRLEAD_TOKEN to the token of the gateway at --url")
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	return t.Reveal(), nil
}

// gatewayKey returns the name of the gateway for [stream.OpenNamed]. A gateway on this computer
// with the data folder's own token is the data folder's.
func (o *options) gatewayKey(home string) (string, error) {
	if !strings.Contains(o.url, "://") {
		peer, err := identity.OpenPeers(home, keychain.Open(home)).Find(o.url, protocol.RoleClient)
		return string(peer.Pin), err
	}
	if at, err := url.Parse(o.url); err == nil && o.tokenFile == "" && keychain.FromEnv() == "" && publicnet.IsLoopback(at.Hostname()) {
		return "", nil
	}
	return o.url, nil
}

// readToken reads a token from a file; - is standard input.
func readToken(name string) (string, error) {
	data, err := readInput(os.Stdin, name)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("read the token: %s is empty", name)
	}
	return token, nil
}

// connection is a connected client; the caller closes it.
type connection struct {
	*client.Client
	hello  protocol.ConnectResult // of the first login
	logins atomic.Int32           // number of logins
	stop   context.CancelFunc
	done   chan error
	// Set for a command: its input, where it prints its result and notes, and whether as JSON.
	in       io.Reader
	out, err io.Writer
	json     bool
}

// connectAs connects to the gateway, or fails within dialLimit with an error that says what to do.
// It sets the route to the gateway in opts.
func (o *options) connectAs(ctx context.Context, opts client.Options) (*connection, error) {
	where, opts, err := o.route(opts)
	if err != nil {
		return nil, err
	}
	return o.connectWith(ctx, where, opts)
}

// route returns opts with the route to the gateway and the credentials; where is the gateway's name in
// errors.
func (o *options) route(opts client.Options) (where string, _ client.Options, err error) {
	if !strings.Contains(o.url, "://") {
		id, peers, err := o.identity()
		if err != nil {
			return "", opts, err
		}
		peer, err := peers.Find(o.url, protocol.RoleClient)
		if err != nil {
			return "", opts, err
		}
		return peer.Name, client.Through(opts, peers, peer.ID(), id, nil), nil
	}
	if err := client.CheckURL(o.url); err != nil {
		return "", opts, usageError("%w", err)
	}
	opts.URL = o.url
	opts.Token, err = o.findToken()
	return o.url, opts, err
}

// connectWith connects with opts; where is the gateway's name in errors.
func (o *options) connectWith(ctx context.Context, where string, opts client.Options) (*connection, error) {
	up, other := make(chan protocol.ConnectResult, 1), make(chan error, 1)
	opts.Connect = func() protocol.ConnectParams { return gateway.ClientParams("cli-" + protocol.NewID()) }
	c := &connection{done: make(chan error, 1)}
	opts.OnUp = func(_ context.Context, hello protocol.ConnectResult) {
		c.logins.Add(1)
		select {
		case up <- hello:
		default:
		}
	}
	opts.OnDown = func(err error) {
		if errors.Is(err, protocol.ErrNotFound) { // another server answers
			select {
			case other <- err:
			default:
			}
		}
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	// An interrupted command may have to undo something.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.Client, c.stop = client.New(opts), cancel
	c.done = crash.Result(func() error { return c.Run(life) })
	select {
	case c.hello = <-up:
		return c, nil
	case err := <-c.done:
		cancel()
		return nil, err
	case err := <-other:
		c.close()
		return nil, err
	case <-ctx.Done():
		c.close()
		return nil, ctx.Err()
	case <-time.After(dialLimit):
		c.close()
		return nil, protocol.ErrUnavailable.With(fmt.Sprintf(
			"no gateway answers at %s: start one with \"fairlead gateway --node\" or the desktop app", where))
	}
}

// close ends the connection and waits for its goroutines.
func (c *connection) close() {
	c.stop()
	<-c.done
}

// withGateway runs f with a connection for cmd.
func (o *options) withGateway(cmd *cobra.Command, f func(context.Context, *connection) error) error {
	return o.withConnection(cmd, client.Options{}, f)
}

func (o *options) withConnection(cmd *cobra.Command, opts client.Options, f func(context.Context, *connection) error) error {
	c, err := o.connectAs(cmd.Context(), opts)
	if err != nil {
		return err
	}
	defer c.close()
	c.in, c.out, c.err, c.json = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o.json
	return f(cmd.Context(), c)
}

// extensionWords say what the extension methods are for, by the prefixes of their names.
var extensionWords = []struct{ prefix, words string }{
	{"question.", "questions on the command line"},
	{"audit.", "an audit log"},
	{"chat.", "stopping runs"},
	{"config.", "setting descriptions"},
	{"device.", "device pairing"},
	{"feed.", "live updates"},
	{"forward.", "forwards"},
	{"journal.", "a call journal"},
	{"models.", "model lists"},
	{"nodes.", "a machine list"},
	{"rule", "rules"},
	{"session.archive", "earlier conversations"},
	{"sessions.search", "search"},
	{"skills.", "turning skills on and off"},
	{"status.", "status information"},
	{"transfer.", "file transfers"},
	{"agent.", "pausing the agent"},
	{"app.", "connected apps"},
	{"apps.", "connected apps"},
	{"tokens.", "connected apps"},
	{"catalog.", "the tools of apps"},
	{"cron.preview", "the next times of a schedule"},
	{"files.", "files of machines"},
	{"server.", "MCP servers"},
	{"servers.", "MCP servers"},
	{"usage.", "a report of usage"},
}

// offers reports whether the gateway has a method: every gateway has those of the specification;
// extensions are listed at login.
func (c *connection) offers(method string) bool {
	info, known := protocol.MethodByName(method)
	return known && !info.Extension || slices.Contains(c.hello.Features.Methods, method)
}

// requireMethod returns an error in plain words if the gateway does not have a method.
func (c *connection) requireMethod(method string) error {
	if c.offers(method) {
		return nil
	}
	words := "this"
	for _, e := range extensionWords {
		if strings.HasPrefix(method, e.prefix) {
			words = e.words
			break
		}
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("this gateway does not support %s (%s); a Fairlead gateway of the current version does", words, method)}
}

// onlyKnown refuses the first of some flags that is given: a gateway of the specification ignores
// what they set.
func onlyKnown(f *pflag.FlagSet, extensions ...string) error {
	for _, name := range extensions {
		if f.Changed(name) {
			return &exitError{code: exitFailed, err: fmt.Errorf("this gateway does not support --%s; a Fairlead gateway of the current version does", name)}
		}
	}
	return nil
}

// call is [client.Call] for a gateway that may have only the methods of the specification.
func call[P, R any](ctx context.Context, c *connection, m protocol.Method[P, R], p P) (R, error) {
	if err := c.requireMethod(m.Name); err != nil {
		var none R
		return none, err
	}
	return client.Call(ctx, c.Client, m, p)
}

// machines are those of a gateway.
type machines struct{ c *connection }

func machinesOf(c *connection) machines { return machines{c} }

// list lists the machines: without a method for it, the connected machines by their tools.
func (m machines) list(ctx context.Context) ([]protocol.NodeInfo, error) {
	if m.c.offers(protocol.NodesList.Name) {
		r, err := call(ctx, m.c, protocol.NodesList, protocol.Empty{})
		return r.Nodes, err
	}
	r, err := call(ctx, m.c, protocol.ToolsList, protocol.Empty{})
	var list []protocol.NodeInfo
	for _, t := range r.Tools {
		id, tool, ok := protocol.ToolName(t.Name).Split()
		if !ok || id == protocol.NativePrefix {
			continue
		}
		i := slices.IndexFunc(list, func(n protocol.NodeInfo) bool { return n.ID == id })
		if i < 0 {
			i, list = len(list), append(list, protocol.NodeInfo{ID: id, Online: true})
		}
		list[i].Tools = append(list[i].Tools, tool)
	}
	return list, err
}

// status returns the gateway's state, or the part of it that is known without a method for it.
func (c *connection) status(ctx context.Context) (protocol.Status, error) {
	if c.offers(protocol.StatusGet.Name) {
		return call(ctx, c, protocol.StatusGet, protocol.Empty{})
	}
	s := protocol.Status{Version: c.hello.Server.Version, MainSession: protocol.MainSession}
	r, err := call(ctx, c, protocol.ConfigGet, protocol.ConfigGetParams{Path: "model"})
	if err == nil && len(r.Value) > 0 {
		err = json.Unmarshal(r.Value, &s.Model)
	}
	return s, err
}

// specificationOnly explains why less is shown than for a Fairlead gateway, or is empty for one.
func (c *connection) specificationOnly() string {
	if c.offers(protocol.StatusGet.Name) {
		return ""
	}
	return fmt.Sprintf("version %s supports only the basic protocol: approvals and offline machines are not shown", cmp.Or(c.hello.Server.Version, "unknown"))
}
