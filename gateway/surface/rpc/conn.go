package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// Conn is the connection of one peer.
type Conn struct {
	server *Server
	socket *socket
	id     protocol.ConnID
	// sequence counts connections: a later one has a higher number.
	sequence uint64
	origin   origin
	feed     *feed

	// These belong to the reader.
	requests  bucket
	hasWarned bool     // an unreadable frame was logged
	closers   []func() // run when the connection has closed, in order
	workers   workers
	wg        crash.Group

	chats wire.TicketLocks // orders the messages of each chat
}

func newConn(s *Server, ws *websocket.Conn, from origin) *Conn {
	c := &Conn{
		socket: newSocket(ws), server: s, id: protocol.ConnID(protocol.NewID()), sequence: s.accepted.Add(1), origin: from,
		requests: bucket{rateLimit: limitBeforeConnect},
	}
	c.workers = workers{ctx: c.socket.ctx, wg: &c.wg, jobs: make(chan func())}
	c.feed = &feed{
		socket: c.socket, wg: &c.wg, bus: s.services.Bus, canonical: s.services.Sessions.Canonical,
		spelling: make(map[protocol.SessionKey]protocol.SessionKey),
	}
	return c
}

func (c *Conn) run() {
	c.wg.Go(c.socket.write)
	err := crash.Call("connection", c.read, "conn", c.id)
	slog.Debug("Connection closed", "conn", c.id, "err", err)
	c.socket.cancel()
	c.server.watches.removeAll(c)
	for _, f := range c.closers {
		f()
	}
	c.socket.ws.Close()
	c.wg.Wait()
}

func (c *Conn) read() error {
	c.socket.ws.SetReadDeadline(time.Now().Add(handshakeLimit))
	c.socket.ws.SetPongHandler(func(payload string) error {
		c.socket.extendDeadline()
		if took, ok := wire.RoundTrip(payload); ok && c.peer().client.Mode == protocol.ModeNode {
			c.server.services.Nodes.Pinged(c.peer().node(), c.socket, took)
		}
		return nil
	})
	c.socket.ws.SetPingHandler(func(payload string) error {
		c.socket.extendDeadline()
		c.socket.out.Pong(payload)
		return nil
	})
	for {
		c.socket.extendDeadline() // the time that the gateway itself took is not the peer's silence
		var frame protocol.Frame
		var bad error
		err := wire.Receive(c.socket.ws, c.socket.extendDeadline, c.readBinary, func(text []byte) { frame, bad = protocol.DecodeFrame(text) })
		if err != nil {
			c.socket.sendHandshakeTimeout(err)
			c.socket.discardOversized(err)
			return err
		}
		if c.socket.closing.Load() {
			continue
		}
		switch {
		case bad != nil:
			c.answerBadFrame(bad)
		case frame.Request != nil:
			c.accept(*frame.Request)
		}
		// The gateway sends no requests, so it expects no response and no event.
	}
}

// onClose registers f to run when the connection has closed. Only the handshake calls it.
func (c *Conn) onClose(f func()) { c.closers = append(c.closers, f) }

// establish ends the handshake.
func (c *Conn) establish(client protocol.ClientInfo, principal auth.Principal) {
	c.socket.ws.SetReadLimit(protocol.MaxReadFrame)
	c.socket.login.Store(&login{client, principal})
}

// peer returns who the peer is; nobody before the handshake.
func (c *Conn) peer() *login { return c.socket.peer() }

// login is who a peer is, since its handshake.
type login struct {
	client    protocol.ClientInfo
	principal auth.Principal
}

// account returns the channel and the account of a connection in channel mode.
func (l *login) account() (channel, account string) { return l.client.Channel, l.client.AccountID }

func (l *login) isClient(id string) bool {
	return l.client.Mode == protocol.ModeClient && l.client.ID == id
}

// node returns the node ID of the connection. Only methods for nodes call it.
func (l *login) node() protocol.NodeID { return protocol.NodeID(l.client.ID) }

// Time limits of a connection.
const (
	handshakeLimit = 10 * time.Second // a socket without a handshake by then is closed
	pingEvery      = 30 * time.Second
	silenceLimit   = 75 * time.Second
	closeLimit     = 2 * time.Second // for the peer's response to a close frame
)

// maxHandshake is the size limit, in bytes, of a frame before connect. A node with hundreds of
// tools needs less.
const maxHandshake = 4 << 20

// socket sends the frames of a connection and enforces its time limits.
type socket struct {
	ws     *websocket.Conn
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	out    *wire.Writer

	login   atomic.Pointer[login] // nil before the handshake
	closing atomic.Bool           // a close frame was sent
}

func newSocket(ws *websocket.Conn) *socket {
	s := &socket{ws: ws, out: wire.NewWriter(ws)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	ws.SetReadLimit(maxHandshake)
	return s
}

func (s *socket) isConnected() bool { return s.login.Load() != nil }

func (s *socket) peer() *login {
	if l := s.login.Load(); l != nil {
		return l
	}
	return new(login)
}

// Device implements transfer.Window.
func (s *socket) Device() protocol.DeviceID { return s.peer().principal.Device }

// extendDeadline resets the read deadline. It does nothing before the handshake and after a close.
func (s *socket) extendDeadline() {
	if s.isConnected() && !s.closing.Load() {
		s.ws.SetReadDeadline(time.Now().Add(silenceLimit))
	}
}

// sendHandshakeTimeout sends the reason before a connection without a handshake is closed.
func (s *socket) sendHandshakeTimeout(err error) {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() && !s.isConnected() {
		s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(protocol.ClosePolicy, "No connect within "+format.Duration(handshakeLimit)), time.Now().Add(closeLimit))
	}
}

// discardOversized discards the rest of a message that is over the limit. The peer has been sent a
// close frame (1009), which the operating system would discard if the socket were closed with
// unread input.
func (s *socket) discardOversized(err error) {
	if !errors.Is(err, websocket.ErrReadLimit) {
		return
	}
	limit := silenceLimit // for all of it: the rest of a large message takes time on a slow network
	if !s.isConnected() {
		limit = handshakeLimit
	}
	end := time.Now().Add(limit)
	buf := make([]byte, 32<<10)
	for remaining := 2 * protocol.MaxReadFrame; remaining > 0 && time.Now().Before(end); {
		s.ws.NetConn().SetReadDeadline(time.Now().Add(closeLimit))
		n, err := s.ws.NetConn().Read(buf)
		if err != nil {
			return
		}
		remaining -= n
	}
}

// write sends frames and pings until the connection ends, and then stops the rest of the
// connection.
func (s *socket) write() {
	defer s.cancel()
	defer s.ws.Close() // ends the reader
	if s.out.Run(s.ctx, pingEvery, s.startClose) {
		// Let the peer read what was already sent: on a close with unread input, the operating
		// system would discard it.
		timer := time.NewTimer(closeLimit)
		defer timer.Stop()
		select {
		case <-s.ctx.Done(): // the reader has received the peer's close frame
		case <-timer.C:
		}
	}
}

// startClose starts the close: further requests of the peer are not answered.
func (s *socket) startClose() {
	s.closing.Store(true)
	s.ws.SetReadDeadline(time.Now().Add(closeLimit))
}

// send sends a frame. It blocks while the peer is slow, and returns when the connection or ctx
// ends.
func (s *socket) send(ctx context.Context, frame []byte) error {
	return s.outcome(ctx, s.out.Send(ctx, frame))
}

// SendEvent queues an event. It implements nodes.Link.
func (s *socket) SendEvent(ctx context.Context, name string, payload any) error {
	frame, err := protocol.EncodeEvent(name, payload, 0)
	if err != nil {
		return err
	}
	if len(frame) > protocol.MaxWriteFrame {
		return tooLargeError("the event "+name, len(frame), "do it in parts")
	}
	return s.send(ctx, frame)
}

// Close sends the queued frames, then a close frame, and ends the connection within a few seconds.
// It blocks no longer than a stuck peer does. It implements nodes.Link.
func (s *socket) Close(code int, reason string) {
	// A write to a stuck peer could otherwise block for a long time.
	kill := crash.AfterFunc(2*closeLimit, func() { s.ws.Close() })
	crash.WhenDone(s.ctx, func() { kill.Stop() })
	s.out.Close(s.ctx, code, reason)
}

// SendEventBehind, SendFrame and Gone implement transfer.Link.
func (s *socket) SendEventBehind(ctx context.Context, name string, payload any) error {
	frame, err := protocol.EncodeEvent(name, payload, 0)
	if err != nil {
		return err
	}
	return s.outcome(ctx, s.out.SendBehind(ctx, frame))
}

func (s *socket) SendFrame(ctx context.Context, f *stream.Frame) error {
	return s.outcome(ctx, s.out.SendBinary(ctx, f.Bytes(), f.Free))
}

// outcome returns why a frame was not queued, or nil if it was.
func (s *socket) outcome(ctx context.Context, queued bool) error {
	switch {
	case queued:
		return nil
	case s.ctx.Err() == nil && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return protocol.ErrUnavailable.With("connection closed")
}

func (s *socket) Gone() <-chan struct{} { return s.ctx.Done() }
