package rpc

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// Conn is the connection of one peer.
type Conn struct {
	*socket
	server *Server
	id     protocol.ConnID
	// sequence counts connections: a later one has a higher number.
	sequence uint64
	trusted  *auth.Principal
	binding  []byte // of the TLS session, for connections from the network
	remote   string // the peer's host
	feed     *feed
	login    atomic.Pointer[login] // nil before the handshake

	// requests and warned belong to the reader.
	requests  bucket
	hasWarned bool // an unreadable frame was logged
	slots     chan struct{}
	wg        sync.WaitGroup

	chats wire.TicketLocks // orders the messages of each chat

	mu      sync.Mutex // guards closers
	closers []func()   // run when the connection has closed, in order
}

type login struct {
	client    protocol.ClientInfo
	principal auth.Principal
}

func newConn(s *Server, ws *websocket.Conn, trusted *auth.Principal) *Conn {
	c := &Conn{
		socket: newSocket(ws), server: s, id: protocol.ConnID(protocol.NewID()), sequence: s.accepted.Add(1), trusted: trusted,
		requests: bucket{rateLimit: limitBeforeConnect}, slots: make(chan struct{}, maxInFlight),
	}
	c.feed = newFeed(c.socket, &c.wg, s.services.Bus, s.services.Canonical)
	return c
}

func (c *Conn) run() {
	c.wg.Go(c.write)
	err := c.read()
	slog.Debug("Connection closed", "conn", c.id, "err", err)
	c.cancel()
	c.mu.Lock()
	closers := c.closers
	c.mu.Unlock()
	c.server.watches.removeAll(c)
	for _, f := range closers {
		f()
	}
	c.ws.Close()
	c.wg.Wait()
}

func (c *Conn) read() error {
	c.ws.SetReadDeadline(time.Now().Add(handshakeLimit))
	c.ws.SetPongHandler(func(payload string) error {
		c.extendDeadline()
		if took, ok := wire.RoundTrip(payload); ok && c.isConnected() && c.mode() == protocol.ModeNode {
			c.server.services.Nodes.Pinged(c.node(), c, took)
		}
		return nil
	})
	c.ws.SetPingHandler(func(payload string) error {
		c.extendDeadline()
		c.out.Pong(payload)
		return nil
	})
	for {
		c.extendDeadline() // the time that the gateway itself took is not the peer's silence
		data, err := wire.Receive(c.ws, c.extendDeadline, c.readBinary)
		if err != nil {
			c.sendHandshakeTimeout(err)
			c.discardOversized(err)
			return err
		}
		if c.closing.Load() {
			continue
		}
		frame, err := protocol.DecodeFrame(data)
		switch {
		case err != nil:
			c.answerBadFrame(err)
		case frame.Request != nil:
			c.accept(*frame.Request)
		}
		// The gateway sends no requests, so it expects no response and no event.
	}
}

func (c *Conn) onClose(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closers = append(c.closers, f)
}

func (c *Conn) establish(client protocol.ClientInfo, principal auth.Principal) {
	c.ws.SetReadLimit(protocol.MaxReadFrame)
	c.login.Store(&login{client, principal})
	c.established.Store(true)
}

func (c *Conn) mode() protocol.Mode { return c.login.Load().client.Mode }

func (c *Conn) clientID() string { return c.login.Load().client.ID }

// principal returns who the peer is; nobody before the handshake.
func (c *Conn) principal() auth.Principal {
	if l := c.login.Load(); l != nil {
		return l.principal
	}
	return auth.Principal{}
}

// account returns the channel and the account of a connection in channel mode.
func (c *Conn) account() (channel, account string) {
	client := c.login.Load().client
	return client.Channel, client.AccountID
}

func (c *Conn) isClient(id string) bool {
	return c.isConnected() && c.mode() == protocol.ModeClient && c.clientID() == id
}

// node returns the node ID of the connection. Only methods for nodes call it.
func (c *Conn) node() protocol.NodeID { return protocol.NodeID(c.clientID()) }
