package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// conn is one connection, with one reading and one writing goroutine.
type conn struct {
	ws       *websocket.Conn
	onEvent  func(protocol.EventFrame)
	onFrame  func(*stream.Frame)
	out      *wire.Writer
	done     chan struct{} // closed when reading has ended
	ready    chan bool     // receives whether the handshake succeeded, and then false at the end
	feed     feedQueue
	received atomic.Int64 // number of received messages

	mu      sync.Mutex // guards the fields below
	next    uint64
	pending map[string]chan protocol.Response // nil after done was closed
}

func newConn(ws *websocket.Conn, onEvent func(protocol.EventFrame), onFrame func(*stream.Frame)) *conn {
	ws.SetReadLimit(protocol.MaxReadFrame)
	return &conn{
		ws: ws, onEvent: onEvent, onFrame: onFrame, out: wire.NewWriter(ws), done: make(chan struct{}), ready: make(chan bool, 2),
		pending: make(map[string]chan protocol.Response), feed: feedQueue{wake: wake.New()},
	}
}

// write sends queued frames and pings until ctx ends.
func (c *conn) write(ctx context.Context) {
	defer c.ws.Close() // ends the reader, and with it the connection
	c.out.Run(ctx, pingEvery, func() {})
}

// probe closes the connection if the gateway does not answer a ping within probeLimit, or at once if
// this machine no longer has the connection's address. It may block while the ping is written.
func (c *conn) probe() {
	local := c.ws.LocalAddr()
	if isLocal(local) {
		return
	}
	if hasLostAddress(local) {
		c.ws.Close()
		return
	}
	before := c.received.Load()
	crash.AfterFunc(probeLimit, func() {
		if c.received.Load() == before {
			c.ws.Close() // ends the reader, and with it the connection
		}
	})
	wire.Ping(c.ws) // on an error, the connection ends by itself
}

// read receives frames until the connection ends, and returns the reason; pending calls fail.
func (c *conn) read() error {
	defer c.failPending()
	extend := func() { c.ws.SetReadDeadline(time.Now().Add(silenceLimit)) }
	alive := func() { c.received.Add(1); extend() }
	alive()
	c.ws.SetPingHandler(func(payload string) error {
		alive()
		c.out.Pong(payload)
		return nil
	})
	c.ws.SetPongHandler(func(string) error { alive(); return nil })
	isReady := false
	// Events that arrive before the handshake is complete are held back: answers to them go over the
	// current connection, which is this one only afterwards.
	var early []protocol.EventFrame
	for {
		extend() // time that this side spent on processing does not count as silence of the gateway
		var frame protocol.Frame
		var bad error
		if err := wire.Receive(c.ws, alive, c.binary(alive), func(text []byte) { frame, bad = protocol.DecodeFrame(text) }); err != nil {
			return err
		}
		if bad != nil {
			continue // ignored, as GSV does with frames that it does not understand
		}
		switch {
		case frame.Response != nil:
			c.mu.Lock()
			waiter := c.pending[frame.Response.ID]
			delete(c.pending, frame.Response.ID)
			c.mu.Unlock()
			if waiter != nil {
				waiter <- *frame.Response
			}
			if isReady {
				continue
			}
			if isReady = <-c.ready; !isReady {
				return net.ErrClosed
			}
			for _, e := range early {
				c.onEvent(e)
			}
			early = nil
		case frame.Event != nil && frame.Event.Event == protocol.EventFeed:
			c.feed.add(*frame.Event)
		case frame.Event == nil || c.onEvent == nil:
		case !isReady:
			early = append(early, *frame.Event)
		default:
			c.onEvent(*frame.Event)
		}
	}
}

func (c *conn) failPending() {
	c.ws.Close()
	c.mu.Lock()
	pending := c.pending
	c.pending = nil
	c.mu.Unlock()
	close(c.done)
	for _, waiter := range pending {
		close(waiter)
	}
}

// request registers a waiter and queues the frame, after queued binary frames if behind is set.
func (c *conn) request(ctx context.Context, method string, params any, behind bool) (id string, waiter chan protocol.Response, err error) {
	c.mu.Lock()
	if c.pending == nil {
		c.mu.Unlock()
		return "", nil, errLost(method)
	}
	c.next++
	id = strconv.FormatUint(c.next, 10)
	waiter = make(chan protocol.Response, 1)
	c.pending[id] = waiter
	c.mu.Unlock()
	frame, err := protocol.EncodeRequest(id, method, params)
	if err == nil && len(frame) > protocol.MaxReadFrame {
		err = protocol.ErrTooLarge.With(fmt.Sprintf("%s: the message is too large to be sent (%s)", method, format.Size(int64(len(frame)))))
	}
	send := c.out.Send
	if behind {
		send = c.out.SendBehind
	}
	if err == nil && !send(ctx, frame) {
		// If the connection ended, the frame may have been sent, and its response may be here. If
		// it is not, the reader closes the waiter.
		err = ctx.Err()
	}
	if err != nil {
		c.forget(id)
	}
	return id, waiter, err
}

func (c *conn) forget(id string) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

func errLost(method string) error {
	return protocol.ErrUnavailable.With(method + ": the connection was lost before the response arrived")
}

// Call calls a method and returns its result. Errors of the gateway are *protocol.Error. Without a
// connection, or when it is lost before the response, the error is protocol.ErrUnavailable; in the
// latter case it is unknown whether the method ran. When ctx ends, Call returns at once.
func Call[P, R any](ctx context.Context, c *Client, m protocol.Method[P, R], params P) (R, error) {
	conn, _ := c.current()
	if conn == nil {
		var zero R
		return zero, protocol.ErrUnavailable.With("not connected to the gateway")
	}
	if p, ok := any(params).(protocol.TransferStartParams); ok && c.opts.Files != nil {
		if err := c.opts.Files.Add(p); err != nil {
			c.log.Warn("Cannot store the paths of a transfer", "err", err)
		}
	}
	return call(ctx, conn, m, params)
}

func call[P, R any](ctx context.Context, c *conn, m protocol.Method[P, R], params P) (R, error) {
	return callBehind(ctx, c, m, params, false)
}

func callBehind[P, R any](ctx context.Context, c *conn, m protocol.Method[P, R], params P, behind bool) (R, error) {
	var out R
	id, waiter, err := c.request(ctx, m.Name, params, behind)
	if err != nil {
		return out, err
	}
	select {
	case <-ctx.Done():
		c.forget(id)
		return out, ctx.Err()
	case res, ok := <-waiter:
		switch {
		case !ok:
			return out, errLost(m.Name)
		case !res.OK && res.Error != nil:
			return out, res.Error
		case !res.OK:
			return out, protocol.ErrInternal.With(m.Name + ": the gateway reported an error without a reason")
		case len(res.Payload) == 0:
			return out, nil
		}
		if err := protocol.Unmarshal(res.Payload, &out); err != nil {
			return out, fmt.Errorf("read the result of %s: %w", m.Name, err)
		}
		return out, nil
	}
}

// Buffer sizes of a connection that carries files: large enough for a frame with its ID.
const (
	bulkRead  = 64 << 10
	bulkWrite = protocol.ChunkSize + 64
)

// binary returns the handler of binary frames, or nil.
func (c *conn) binary(alive func()) func(kind int, r io.Reader) {
	if c.onFrame == nil {
		return nil
	}
	return func(kind int, r io.Reader) {
		if kind == websocket.BinaryMessage {
			stream.ReadFrame(r, alive, c.onFrame) // an error belongs to the connection; the next read returns it too
		}
	}
}

// event handles an event for a client that is itself an end of transfers.
func (c *Client) event(e protocol.EventFrame) {
	if !c.ends.Event(e.Event, e.Payload) && c.onEvent != nil {
		c.onEvent(e)
	}
}

// Peer returns the gateway in the form that the ends of transfers use. Reports and data go over the
// connection that is current at the time.
func (c *Client) Peer() stream.Peer { return gatewayPeer{c} }

type gatewayPeer struct{ c *Client }

func (p gatewayPeer) Report(ctx context.Context, method string, params any, behind bool) error {
	conn, _ := p.c.current()
	if conn == nil {
		return errLost(method)
	}
	_, err := callBehind(ctx, conn, protocol.Method[any, protocol.OK]{Name: method}, params, behind)
	return err
}

func (p gatewayPeer) SendFrame(ctx context.Context, f *stream.Frame) error {
	conn, _ := p.c.current()
	if conn == nil {
		f.Free()
		return errLost("a transfer")
	}
	if !conn.out.SendBinary(ctx, f.Bytes(), f.Free) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return errLost("a transfer")
	}
	return nil
}
