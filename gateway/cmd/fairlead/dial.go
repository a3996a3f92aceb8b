package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// dialLimit is how long a command waits for the gateway before it reports that the gateway cannot
// be reached.
const dialLimit = 5 * time.Second

// findToken returns the token to use: from the file of --token-file, the environment, or this
// computer's keychain.
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

// ledgerName returns the gateway's name for [stream.OpenNamed]. A gateway on this computer with the
// data folder's own token is the data folder's.
func (o *options) ledgerName(home string) (string, error) {
	if !strings.Contains(o.url, "://") {
		peer, err := identity.OpenPeers(home, keychain.Open(home)).Find(o.url, protocol.RoleClient)
		return string(peer.Pin), err
	}
	if at, err := url.Parse(o.url); err == nil && o.tokenFile == "" && keychain.FromEnv() == "" {
		if ip := net.ParseIP(at.Hostname()); ip.IsLoopback() || at.Hostname() == "localhost" {
			return "", nil
		}
	}
	return o.url, nil
}

// readToken reads a token from a file; - is standard input.
func readToken(name string) (string, error) {
	f := os.Stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return "", fmt.Errorf("read the token: %w", err)
		}
		defer f.Close()
	}
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
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
}

// connect connects to the gateway, or fails within dialLimit with an error that says what to do.
func (o *options) connect(ctx context.Context) (*connection, error) {
	return o.connectAs(ctx, client.Options{})
}

// connectAs is connect with further options; connectAs sets the route to the gateway.
func (o *options) connectAs(ctx context.Context, opts client.Options) (*connection, error) {
	if !strings.Contains(o.url, "://") {
		id, peers, err := o.identity()
		if err != nil {
			return nil, err
		}
		peer, err := peers.Find(o.url, protocol.RoleClient)
		if err != nil {
			return nil, err
		}
		return o.connectWith(ctx, peer.Name, client.Through(opts, peers, peer.ID(), id, nil))
	}
	if err := checkAddress(o.url); err != nil {
		return nil, err
	}
	token, err := o.findToken()
	if err != nil {
		return nil, err
	}
	opts.URL, opts.Token = o.url, token
	return o.connectWith(ctx, o.url, opts)
}

// checkAddress returns an error for an invalid address of a gateway.
func checkAddress(address string) error {
	if err := client.CheckURL(address); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	return nil
}

// connectWith connects with opts; where is the gateway's name in errors.
func (o *options) connectWith(ctx context.Context, where string, opts client.Options) (*connection, error) {
	up := make(chan protocol.ConnectResult, 1)
	opts.Connect = func() protocol.ConnectParams { return gateway.ClientParams("cli-" + protocol.NewID()) }
	c := &connection{done: make(chan error, 1)}
	opts.OnUp = func(_ context.Context, hello protocol.ConnectResult) {
		c.logins.Add(1)
		select {
		case up <- hello:
		default:
		}
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	// An interrupted command may have to undo something.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.Client, c.stop = client.New(opts), cancel
	go func() { c.done <- c.Run(life) }()
	timer := time.NewTimer(dialLimit)
	defer timer.Stop()
	select {
	case c.hello = <-up:
		return c, nil
	case err := <-c.done:
		cancel()
		return nil, err
	case <-ctx.Done():
		c.close()
		return nil, ctx.Err()
	case <-timer.C:
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

// withGateway runs f with a connection.
func (o *options) withGateway(ctx context.Context, f func(context.Context, *connection) error) error {
	c, err := o.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	return f(ctx, c)
}
