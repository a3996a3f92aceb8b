package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/wire"
)

// maxInFlight is how many requests of one connection run at once. A further one waits slotWait for its turn and is refused then: a peer whose
// calls all wait for the person must still be able to answer.
const (
	maxInFlight = 256
	slotWait    = time.Second
)

// maxHandshake is how many bytes a frame of a peer may have that is not known yet: a node with hundreds of tools needs less.
const maxHandshake = 4 << 20

// maxError is how many bytes of an error a peer is told; a node's error may be as long as a frame.
const maxError = 1 << 20

// Conn is one peer.
type Conn struct {
	srv     *Server
	ws      *websocket.Conn
	id      protocol.ConnID
	came    uint64 // its number among the connections
	trusted *auth.Principal
	binding []byte // of the TLS session, for a connection from the network
	remote  string // host, where it came from
	ctx     context.Context
	cancel  context.CancelFunc
	out     *wire.Writer
	// deadline and requests are the reader's.
	deadline *wire.Deadline
	requests bucket
	closing  atomic.Bool // a close frame was sent
	slots    chan struct{}
	wg       sync.WaitGroup

	lastChat <-chan struct{} // closed when the last chat.send or channel.inbound is answered; the reader's

	mu        sync.Mutex // guards what follows
	params    *protocol.ConnectParams
	principal auth.Principal
	detach    func()
	pusher    *pusher
	feedSeq   uint64
	spelling  map[protocol.SessionKey]protocol.SessionKey // canonical key to the peer's own
}

func newConn(s *Server, ws *websocket.Conn, trusted *auth.Principal) *Conn {
	ctx, cancel := context.WithCancel(context.Background())
	ws.SetReadLimit(maxHandshake)
	return &Conn{
		srv: s, ws: ws, id: protocol.ConnID(protocol.NewID()), came: s.came.Add(1), trusted: trusted, ctx: ctx, cancel: cancel,
		out: wire.NewWriter(ws), deadline: wire.NewDeadline(ws), requests: bucket{rate: rateStranger}, slots: make(chan struct{}, maxInFlight), spelling: make(map[protocol.SessionKey]protocol.SessionKey),
	}
}

// run serves the connection to its end.
func (c *Conn) run() {
	c.wg.Go(c.write)
	err := c.read()
	slog.Debug("Connection ended", "conn", c.id, "err", err)
	c.cancel()
	c.mu.Lock()
	detach := c.detach
	c.mu.Unlock()
	c.srv.watches.leave(c)
	if detach != nil {
		detach()
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
	ping := c.ws.PingHandler()
	c.ws.SetPingHandler(func(s string) error { c.alive(); return ping(s) })
	for {
		data, err := c.receive()
		if err != nil {
			c.tooLate(err)
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
		// The gateway asks nothing by request, so it expects no response and no event.
	}
}

// accept starts a request. Requests of one peer run beside each other, but chat.send and channel.inbound one after the other, as they were
// sent; so does all that a node reports, which never blocks: progress must not overtake a result.
func (c *Conn) accept(req protocol.Request) {
	if !c.allowed(req) {
		return
	}
	if req.Method == protocol.Connect.Name || !c.connected() || c.mode() == protocol.ModeNode {
		before := c.connected()
		c.serve(req)
		c.alive() // the first time after the handshake
		if !before && c.connected() {
			c.requests = bucket{rate: c.limit(), last: time.Now()}
		}
		return
	}
	if !c.slot() {
		c.respond(req.ID, nil, protocol.ErrUnavailable.With(fmt.Sprintf("%d requests of this connection are under way already", maxInFlight)))
		return
	}
	var before <-chan struct{}
	done := make(chan struct{})
	if req.Method == protocol.ChatSend.Name || req.Method == protocol.ChannelInbound.Name {
		before, c.lastChat = c.lastChat, done
	}
	c.wg.Add(1)
	c.srv.crew.do(func() {
		defer c.wg.Done()
		defer func() { <-c.slots }()
		defer close(done)
		if before != nil {
			<-before
		}
		c.serve(req)
	})
}

func (c *Conn) slot() bool {
	select {
	case c.slots <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(slotWait)
	defer timer.Stop()
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.ctx.Done():
	case <-timer.C:
	}
	return false
}

// badFrame tells the peer about a frame that could not be read: by the response it waits for when its id is known, else by an event. The
// socket stays open.
func (c *Conn) badFrame(err error) {
	var bad *protocol.FrameError
	if errors.As(err, &bad) && bad.ID != "" {
		c.respond(bad.ID, nil, protocol.ErrBadRequest.With(bad.Error()))
		return
	}
	if frame, err := protocol.EncodeEvent(protocol.EventError, protocol.ErrBadRequest.With(err.Error()), 0); err == nil {
		c.send(c.ctx, frame)
	}
}

// serve answers one request.
func (c *Conn) serve(req protocol.Request) {
	after := []func(){}
	ctx := context.WithValue(c.ctx, afterKey{}, &after)
	frame, err := c.answer(ctx, req)
	if req.Method == protocol.ReturnResult.Name {
		runtime.Gosched() // whoever waits for the result goes before the node's receipt
	}
	c.respond(req.ID, frame, err)
	for _, f := range after {
		f()
	}
}

// respond sends the response to the request with the id.
func (c *Conn) respond(id string, result []byte, err error) {
	if err == nil && len(result) > protocol.MaxWriteFrame {
		err = tooLarge("the answer", len(result))
	}
	if err != nil {
		e := protocol.AsError(err)
		if len(e.Message)+len(e.Details) > maxError {
			e = e.With(e.Message[:min(len(e.Message), maxError)] + "…")
			e.Message, e.Details = strings.ToValidUTF8(e.Message, ""), nil
		}
		if result, err = protocol.EncodeError(id, e); err != nil {
			slog.Error("An error could not be sent", "conn", c.id, "err", err)
			return
		}
	}
	c.send(c.ctx, result)
}

func tooLarge(what string, size int) error {
	return protocol.ErrTooLarge.With(fmt.Sprintf("%s has %.1f MiB, at most %d can be sent; ask for a part of it", what, float64(size)/(1<<20), protocol.MaxWriteFrame>>20))
}

type afterKey struct{}

// afterResponse has f run once the response of ctx's request is queued.
func afterResponse(ctx context.Context, f func()) {
	if list, ok := ctx.Value(afterKey{}).(*[]func()); ok {
		*list = append(*list, f)
	}
}

// answer runs a request and encodes its result. A panic is the request's failure, not the gateway's.
func (c *Conn) answer(ctx context.Context, req protocol.Request) (frame []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			slog.Error("A method panicked", "method", req.Method, "err", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = protocol.ErrInternal.With("internal error in " + req.Method + "; the log has more")
		}
	}()
	payload, err := c.dispatch(ctx, req)
	if err == nil {
		frame, err = protocol.EncodeResult(req.ID, payload)
	}
	return frame, err
}

// dispatch checks who may call what (gsv interop notes, dispatch rules), and calls it.
func (c *Conn) dispatch(ctx context.Context, req protocol.Request) (any, error) {
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
	if !slices.Contains(info.Modes, c.mode()) || !p.Has(info.Scope) {
		return nil, protocol.ErrForbidden.With("Method " + req.Method + " not allowed for mode")
	}
	return h(ctx, c, req.Params)
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
