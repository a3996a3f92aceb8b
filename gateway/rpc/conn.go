package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// Timing of a connection.
const (
	handshakeLimit = 15 * time.Second // a socket that says nothing for this long is closed
	pingEvery      = 30 * time.Second
	silenceLimit   = 75 * time.Second
	writeLimit     = 30 * time.Second
)

// maxInFlight is how many requests of one connection run at once; more wait in the socket.
const maxInFlight = 256

// Conn is one peer.
type Conn struct {
	srv     *Server
	ws      *websocket.Conn
	id      protocol.ConnID
	trusted *auth.Principal
	ctx     context.Context
	cancel  context.CancelFunc
	out     chan outgoing
	slots   chan struct{}
	wg      sync.WaitGroup

	mu        sync.Mutex // guards what follows
	params    *protocol.ConnectParams
	principal auth.Principal
	detach    func()
	pusher    *pusher
	feedSeq   uint64
	spelling  map[protocol.SessionKey]protocol.SessionKey // canonical key to the peer's own
	chatOrder sync.Mutex                                  // chat.send of one peer in the order it was sent
}

// outgoing is a frame to write, or a close.
type outgoing struct {
	frame []byte
	code  int // of a close, 0 for a frame
	text  string
}

func newConn(s *Server, ws *websocket.Conn, trusted *auth.Principal) *Conn {
	ctx, cancel := context.WithCancel(context.Background())
	ws.SetReadLimit(protocol.MaxReadFrame)
	return &Conn{srv: s, ws: ws, id: protocol.ConnID(protocol.NewID()), trusted: trusted, ctx: ctx, cancel: cancel,
		out: make(chan outgoing, 64), slots: make(chan struct{}, maxInFlight), spelling: make(map[protocol.SessionKey]protocol.SessionKey)}
}

// run serves the connection to its end.
func (c *Conn) run() {
	c.wg.Go(c.write)
	err := c.read()
	slog.Debug("Connection ended", "conn", c.id, "err", err)
	c.mu.Lock()
	detach, pusher := c.detach, c.pusher
	c.detach, c.pusher = nil, nil
	c.mu.Unlock()
	if detach != nil {
		detach()
	}
	c.cancel()
	if pusher != nil {
		pusher.stop()
	}
	c.ws.Close()
	c.wg.Wait()
}

func (c *Conn) read() error {
	alive := func(limit time.Duration) { c.ws.SetReadDeadline(time.Now().Add(limit)) }
	alive(handshakeLimit)
	c.ws.SetPongHandler(func(string) error { alive(silenceLimit); return nil })
	ping := c.ws.PingHandler()
	c.ws.SetPingHandler(func(s string) error {
		if c.connected() {
			alive(silenceLimit)
		}
		return ping(s)
	})
	for {
		kind, data, err := c.ws.ReadMessage()
		if err != nil {
			return err
		}
		if c.connected() {
			alive(silenceLimit)
		}
		if kind != websocket.TextMessage {
			continue // binary frames belong to transfers, and none is known here
		}
		frame, err := protocol.DecodeFrame(data)
		if err != nil {
			c.badFrame(err)
			continue
		}
		if frame.Request == nil {
			continue // the gateway asks nothing by request, so it expects no response and no event
		}
		select {
		case c.slots <- struct{}{}:
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
		req := *frame.Request
		if req.Method == protocol.Connect.Name || req.Method == protocol.ChatSend.Name {
			c.serve(req) // in order
			continue
		}
		c.wg.Go(func() { c.serve(req) })
	}
}

// badFrame tells the peer about a frame that could not be read: by the response it waits for when its id is known, else by an event. The
// socket stays open.
func (c *Conn) badFrame(err error) {
	var bad *protocol.FrameError
	if errors.As(err, &bad) && bad.ID != "" {
		c.respondError(bad.ID, protocol.ErrBadRequest.With(bad.Error()))
		return
	}
	if frame, err := protocol.EncodeEvent(protocol.EventError, protocol.ErrBadRequest.With(err.Error()), 0); err == nil {
		c.send(frame)
	}
}

// serve answers one request.
func (c *Conn) serve(req protocol.Request) {
	defer func() { <-c.slots }()
	after := []func(){}
	ctx := context.WithValue(c.ctx, afterKey{}, &after)
	payload, err := c.dispatch(ctx, req)
	if err != nil {
		c.respondError(req.ID, err)
	} else if frame, err := protocol.EncodeResult(req.ID, payload); err != nil {
		c.respondError(req.ID, err)
	} else if len(frame) > protocol.MaxWriteFrame {
		c.respondError(req.ID, protocol.ErrTooLarge.With(fmt.Sprintf("the answer to %s has %d MiB, at most %d can be sent; ask for a part of it",
			req.Method, len(frame)>>20, protocol.MaxWriteFrame>>20)))
	} else {
		c.send(frame)
	}
	for _, f := range after {
		f()
	}
}

type afterKey struct{}

// afterResponse has f run once the response of ctx's request is queued.
func afterResponse(ctx context.Context, f func()) {
	if list, ok := ctx.Value(afterKey{}).(*[]func()); ok {
		*list = append(*list, f)
	}
}

// dispatch checks who may call what (gsv interop notes, dispatch rules), and calls it.
func (c *Conn) dispatch(ctx context.Context, req protocol.Request) (payload any, err error) {
	defer func() {
		if r := recover(); r != nil {
			slog.Error("A method panicked", "method", req.Method, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = protocol.ErrInternal.With("internal error in " + req.Method + "; the log has more")
		}
	}()
	if req.Method == protocol.Connect.Name {
		return c.connect(ctx, req.Params)
	}
	if !c.connected() {
		return nil, protocol.ErrNotConnected
	}
	info, ok := protocol.MethodByName(req.Method)
	h := c.srv.methods[req.Method]
	if !ok || h == nil {
		return nil, protocol.ErrNotFound.With("Unknown method: " + req.Method)
	}
	p := c.who()
	allowed := false
	for _, m := range info.Modes {
		allowed = allowed || m == c.mode()
	}
	if !allowed || !p.Has(info.Scope) {
		return nil, protocol.ErrForbidden.With("Method " + req.Method + " not allowed for mode")
	}
	return h(ctx, c, req.Params)
}

func (c *Conn) respondError(id string, err error) {
	if frame, err := protocol.EncodeError(id, err); err == nil {
		c.send(frame)
	}
}

// send queues a frame; it blocks while the peer is slow, and gives up when the connection ends.
func (c *Conn) send(frame []byte) error {
	select {
	case c.out <- outgoing{frame: frame}:
		return nil
	case <-c.ctx.Done():
		return protocol.ErrUnavailable.With("connection closed")
	}
}

// SendEvent queues an event. It is nodes.Link.
func (c *Conn) SendEvent(ctx context.Context, name string, payload any) error {
	frame, err := protocol.EncodeEvent(name, payload, 0)
	if err != nil {
		return err
	}
	if len(frame) > protocol.MaxWriteFrame {
		return protocol.ErrTooLarge.With(fmt.Sprintf("%s has %d MiB, at most %d can be sent", name, len(frame)>>20, protocol.MaxWriteFrame>>20))
	}
	select {
	case c.out <- outgoing{frame: frame}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.ctx.Done():
		return protocol.ErrUnavailable.With("connection closed")
	}
}

// Close sends what is queued, then a close frame, and ends the connection. It is nodes.Link.
func (c *Conn) Close(code int, reason string) {
	select {
	case c.out <- outgoing{code: code, text: reason}:
	case <-c.ctx.Done():
	case <-time.After(time.Second):
		c.ws.Close()
	}
}

// write sends frames and pings until the connection ends.
func (c *Conn) write() {
	defer c.ws.Close() // ends the reader
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var err error
		select {
		case <-c.ctx.Done():
			return
		case o := <-c.out:
			c.ws.SetWriteDeadline(time.Now().Add(writeLimit))
			if o.code != 0 {
				c.ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(o.code, o.text))
				return
			}
			err = c.ws.WriteMessage(websocket.TextMessage, o.frame)
		case <-ping.C:
			err = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeLimit))
		}
		if err != nil {
			return
		}
	}
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

// node is the machine behind the connection; only node methods call it.
func (c *Conn) node() protocol.NodeID { return protocol.NodeID(c.clientID()) }
