// Package client connects to a gateway and speaks the protocol with it (docs/protocol.md). It
// dials, performs the handshake, reconnects by itself, makes typed calls, and follows the feed: a
// snapshot, then numbered changes. Windows, the command line and the node use it; inside one
// process it runs over [Memory].
package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

// Timing of a connection.
const (
	handshakeLimit = 15 * time.Second
	pingEvery      = 20 * time.Second
	silenceLimit   = 45 * time.Second // without any data for this long, the peer is considered gone
	minBackoff     = 500 * time.Millisecond
	maxBackoff     = 30 * time.Second
	stableAfter    = 2 * time.Second // a connection that lasted this long resets the back-off; short, so that an often interrupted network is used
)

// Options configure a Client.
type Options struct {
	URL   string // ws:// or wss://, including the path
	Token string // sent in connect, never in the URL
	// Auth, when set, creates the credentials for a connection; they replace Token.
	Auth func(net.Conn) (*protocol.Auth, error)
	// Refused, when set, is called after each refused handshake. If it returns nil, the cause was
	// removed and the client tries again; otherwise the client stops with that error.
	Refused func(context.Context, error) error
	// Accepted, when set, is called after each successful handshake, before OnUp.
	Accepted func()
	// Connect returns the handshake; the client adds Auth. It is called for every connection.
	Connect func() protocol.ConnectParams
	// Dial creates the transport; nil means TCP, with TLS for wss.
	Dial func(context.Context) (net.Conn, error)
	// OnUp is called after every handshake on its own goroutine; ctx ends with the connection.
	OnUp func(context.Context, protocol.ConnectResult)
	// OnDown is called with the reason when a connection ended or could not be made.
	OnDown func(error)
	// OnEvent is called for every event except those of the feed, in order, on the reading
	// goroutine. It must not block.
	OnEvent func(protocol.EventFrame)
	// OnFrame is called for every binary frame, like OnEvent, and owns it. Nil drops them.
	OnFrame func(*stream.Frame)
	// Files, when set, lets the client be one end of the transfers that it starts: see
	// [protocol.Here] and [stream.Named]. After a reconnect, transfer.resume continues them over
	// the new connection.
	Files *stream.NamedPaths
	// Unfinished, which may be nil, records the unfinished files of these transfers, so that they
	// can continue after a crash of this program.
	Unfinished *stream.UnfinishedFiles
	Logger     *slog.Logger
}

// Client is one peer of a gateway. All methods are safe for concurrent use.
type Client struct {
	opts Options
	log  *slog.Logger
	// retryNow holds a token to skip the wait before the next attempt.
	retryNow wake.Signal

	mu   sync.Mutex // guards conn and up
	conn *conn      // nil while disconnected
	up   chan struct{}

	ends    *stream.Ends              // nil without Options.Files
	onEvent func(protocol.EventFrame) // Options.OnEvent, for events that ends does not handle
}

// New creates a client; Run connects it.
func New(opts Options) *Client {
	c := &Client{opts: opts, log: opts.Logger, up: make(chan struct{}), retryNow: wake.New()}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if opts.Files != nil {
		c.ends = stream.NewEnds(stream.Options{Files: opts.Files, Peer: c.Peer(), Log: c.log, Unfinished: opts.Unfinished})
		c.onEvent, c.opts.OnEvent, c.opts.OnFrame = opts.OnEvent, c.event, c.ends.Binary
	}
	return c
}

// CheckURL returns a protocol.ErrBadRequest for an invalid gateway address.
func CheckURL(address string) error {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "ws" && at.Scheme != "wss" || at.Host == "" {
		return protocol.ErrBadRequest.With(fmt.Sprintf("the address of a gateway starts with ws:// or wss://, such as ws://127.0.0.1:8787/ws, not %q", address))
	}
	return nil
}

// Run connects and reconnects until ctx ends or the gateway refuses the client finally. The latter
// returns a *FinalError: for a wrong token, an invalid handshake, a newer peer with the same ID, or
// an invalid address. The pause between attempts grows up to half a minute.
func (c *Client) Run(ctx context.Context) error {
	backoff := minBackoff
	if err := CheckURL(c.opts.URL); err != nil {
		return &FinalError{err}
	}
	if c.ends != nil {
		defer c.ends.Close()
		var swept crash.Group
		defer swept.Wait()
		swept.Go(func() { c.opts.Unfinished.Sweep(c.opts.Files.Disk(), time.Now().Add(-stream.PartAge)) })
	}
	if c.opts.Dial == nil || c.opts.Auth != nil { // otherwise the transport does not use the network
		watching, end := context.WithCancel(ctx)
		var wg crash.Group
		defer wg.Wait()
		defer end()
		wg.Go(func() { watch(watching, c.Probe) })
	}
	for {
		began := time.Now()
		err := c.connectOnce(ctx)
		if c.ends != nil {
			c.ends.Drop()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.opts.OnDown != nil {
			c.opts.OnDown(err)
		}
		var final *FinalError
		if errors.As(err, &final) {
			if c.opts.Refused == nil {
				return err
			}
			if err := c.opts.Refused(ctx, final.Err); err != nil && !errors.Is(err, protocol.ErrUnavailable) {
				return &FinalError{err}
			}
		}
		if time.Since(began) > stableAfter {
			backoff = minBackoff
		}
		wait := backoff/2 + rand.N(backoff/2+1)
		c.log.Debug("Reconnecting", "err", err, "after", wait)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.retryNow:
			backoff = minBackoff
		case <-time.After(wait):
			backoff = min(backoff*2, maxBackoff)
		}
	}
}

// Probe checks at once whether the gateway still answers, after an event on this machine. A
// connection without an answer is closed within seconds, and a pause before the next attempt ends.
// It does not block.
func (c *Client) Probe(why string) {
	conn, _ := c.current()
	c.log.Debug("Probing the gateway", "why", why)
	if conn != nil {
		crash.Go(func() { conn.probe() })
		return
	}
	c.retryNow.Send()
}

// connectOnce makes one connection and serves it until it ends.
func (c *Client) connectOnce(ctx context.Context) error {
	ws, err := c.opts.dial(ctx, c.opts.URL, c.opts.OnFrame != nil)
	if err != nil {
		return err
	}
	conn := newConn(ws, c.opts.OnEvent, c.opts.OnFrame)
	ctx, cancel := context.WithCancel(ctx)
	var wg crash.Group
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { conn.write(ctx) })
	ended := make(chan error, 1)
	wg.Go(func() { ended <- crash.Call("connection", conn.read) })
	defer ws.Close()
	defer func() { conn.ready <- false }()

	params, err := c.opts.connectParams(ws.NetConn())
	if err != nil {
		return err
	}
	helloCtx, cancelHello := context.WithTimeout(ctx, handshakeLimit)
	hello, err := call(helloCtx, conn, protocol.Connect, params)
	cancelHello()
	if err != nil {
		select {
		case <-conn.done: // the reason for the close explains more than the missing response
			if end := endError(<-ended); errors.Is(err, protocol.ErrUnavailable) {
				return end
			}
		default:
		}
		return helloError(err)
	}
	if c.opts.Accepted != nil {
		c.opts.Accepted()
	}
	c.setConn(conn)
	defer c.setConn(nil)
	conn.ready <- true
	if c.opts.OnUp != nil {
		wg.Go(func() { c.opts.OnUp(ctx, hello) })
	}
	select {
	case <-ctx.Done():
		ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		ws.Close()
		<-ended
		return ctx.Err()
	case err := <-ended:
		return endError(err)
	}
}

// dial opens a WebSocket. One for bulk data writes large frames in one piece.
func (o Options) dial(ctx context.Context, address string, bulk bool) (*websocket.Conn, error) {
	dialer := websocket.Dialer{HandshakeTimeout: handshakeLimit, Proxy: http.ProxyFromEnvironment}
	if bulk {
		dialer.ReadBufferSize, dialer.WriteBufferSize = bulkRead, bulkWrite
	}
	if o.Dial != nil {
		dialer.Proxy = nil
		dialer.NetDialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx) }
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	ws, resp, err := dialer.DialContext(ctx, address, nil)
	var final *FinalError
	switch {
	case err == nil:
		return ws, nil
	case resp != nil && resp.StatusCode == http.StatusForbidden:
		return nil, &FinalError{protocol.ErrForbidden.With("the gateway refused the connection: it does not accept connections to this address")}
	case errors.As(err, &final):
		return nil, final
	case resp != nil:
		return nil, protocol.ErrNotFound.With(fmt.Sprintf("the server at %s answered %q instead of a gateway; check the address, which usually ends in /ws", address, resp.Status))
	}
	return nil, protocol.ErrUnavailable.With(fmt.Sprintf("connect to %s: %v", address, err))
}

// connectParams returns the params of connect, with the credentials for this connection.
func (o Options) connectParams(transport net.Conn) (params protocol.ConnectParams, err error) {
	params = o.Connect()
	if o.Auth != nil {
		params.Auth, err = o.Auth(transport)
	} else if o.Token != "" {
		params.Auth = &protocol.Auth{Token: o.Token}
	}
	return params, err
}

func (c *Client) setConn(conn *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	if conn != nil {
		close(c.up)
		c.up = make(chan struct{})
	}
}

// current returns the connection, or nil, and a channel that is closed when the next one is up.
func (c *Client) current() (*conn, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn, c.up
}

// Connected reports whether there is a connection now.
func (c *Client) Connected() bool {
	conn, _ := c.current()
	return conn != nil
}
