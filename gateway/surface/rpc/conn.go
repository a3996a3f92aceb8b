package rpc

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// maxHandshake is the size limit, in bytes, of a frame before connect. A node with hundreds of
// tools needs less.
const maxHandshake = 4 << 20

// Conn is the connection of one peer.
type Conn struct {
	srv *Server
	ws  *websocket.Conn
	id  protocol.ConnID
	// sequence counts connections: a later one has a higher number.
	sequence uint64
	trusted  *auth.Principal
	binding  []byte // of the TLS session, for connections from the network
	remote   string // the peer's host
	ctx      context.Context
	cancel   context.CancelFunc
	out      *wire.Writer
	// requests and warned belong to the reader.
	requests bucket
	warned   bool        // an unreadable frame was logged
	closing  atomic.Bool // a close frame was sent
	slots    chan struct{}
	wg       sync.WaitGroup

	chats wire.TicketLocks // orders the messages of each chat

	mu        sync.Mutex // guards the fields below
	params    *protocol.ConnectParams
	principal auth.Principal
	closers   []func() // run when the connection has closed, in order
	pusher    *pusher
	feed      bool // the peer has subscribed to the feed
	feedSeq   uint64
	spelling  map[protocol.SessionKey]protocol.SessionKey // canonical key to the peer's spelling
}

func newConn(s *Server, ws *websocket.Conn, trusted *auth.Principal) *Conn {
	ctx, cancel := context.WithCancel(context.Background())
	ws.SetReadLimit(maxHandshake)
	return &Conn{
		srv: s, ws: ws, id: protocol.ConnID(protocol.NewID()), sequence: s.accepted.Add(1), trusted: trusted, ctx: ctx, cancel: cancel,
		out: wire.NewWriter(ws), requests: bucket{rate: rateStranger}, slots: make(chan struct{}, maxInFlight), spelling: make(map[protocol.SessionKey]protocol.SessionKey),
	}
}

// run serves the connection until it closes.
func (c *Conn) run() {
	c.wg.Go(c.write)
	err := c.read()
	slog.Debug("Connection ended", "conn", c.id, "err", err)
	c.cancel()
	c.mu.Lock()
	closers := c.closers
	c.mu.Unlock()
	c.srv.watches.removeAll(c)
	for _, f := range closers {
		f()
	}
	c.ws.Close()
	c.wg.Wait()
}

func (c *Conn) read() error {
	c.ws.SetReadDeadline(time.Now().Add(handshakeLimit))
	c.ws.SetPongHandler(func(payload string) error {
		c.alive()
		if took, ok := wire.RoundTrip(payload); ok && c.connected() && c.mode() == protocol.ModeNode {
			c.srv.s.Nodes.Pinged(c.node(), c, took)
		}
		return nil
	})
	c.ws.SetPingHandler(func(payload string) error {
		c.alive()
		c.out.Pong(payload)
		return nil
	})
	for {
		data, err := c.receive()
		if err != nil {
			c.tooLate(err)
			c.tooBig(err)
			return err
		}
		if c.closing.Load() {
			continue
		}
		frame, err := protocol.DecodeFrame(data)
		switch {
		case err != nil:
			c.badFrame(err)
		case frame.Request != nil:
			c.accept(*frame.Request)
		}
		// The gateway sends no requests, so it expects no response and no event.
	}
}

// onClose registers f to run when the connection has closed.
func (c *Conn) onClose(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closers = append(c.closers, f)
}

// establish completes the handshake.
func (c *Conn) establish(p protocol.ConnectParams, principal auth.Principal) {
	c.ws.SetReadLimit(protocol.MaxReadFrame)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.params, c.principal = &p, principal
}

func (c *Conn) connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.params != nil
}

func (c *Conn) mode() protocol.Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.params.Client.Mode
}

func (c *Conn) who() auth.Principal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.principal
}

func (c *Conn) clientID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.params.Client.ID
}

func (c *Conn) isClient(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.params != nil && c.params.Client.Mode == protocol.ModeClient && c.params.Client.ID == id
}

// node returns the node ID of the connection. Only methods for nodes call it.
func (c *Conn) node() protocol.NodeID { return protocol.NodeID(c.clientID()) }
