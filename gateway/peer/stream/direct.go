package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Direct connects the two ends of a transfer without the gateway between them. After any failure,
// the transfer uses the gateway.
type Direct interface {
	// Source prepares the connecting end.
	Source(id protocol.TransferID) (Caller, error)
	// Destination prepares and starts the listening end, which accepts nobody but the source.
	Destination(id protocol.TransferID, source protocol.TransferPeer) (Listener, error)
}

// Caller is a source that can connect.
type Caller interface {
	// Self returns what the destination needs to know.
	Self() protocol.TransferPeer
	// Dial connects to the destination, for a few seconds; both ends prove their identity.
	Dial(ctx context.Context, destination protocol.TransferPeer) (net.Conn, error)
}

// Listener is a listening destination.
type Listener interface {
	// Self returns what the source needs to know.
	Self() protocol.TransferPeer
	// Accept waits for the source until the listener's time limit, and then stops listening.
	Accept(ctx context.Context) (net.Conn, error)
	// Close stops a listener whose Accept was not called; otherwise it does nothing.
	Close()
}

// Payloads of recRoute.
const (
	routeDirect = 1 // the source's data arrives over the direct connection
	routeLost   = 2 // the direct connection failed, and the attempt with it
)

// writeLimit is the time limit for writing a frame to a direct connection. The other end reads
// until it has used up its credit, so only a lost connection takes that long.
const writeLimit = 20 * time.Second

// errDirectLost reports that the direct connection ended before the transfer.
var errDirectLost = errors.New("the direct connection was lost")

// directConn carries the frames of a transfer over a connection of its own. In place of the
// transfer's number, a frame begins with the length of its body.
type directConn struct {
	conn   net.Conn
	closed chan struct{} // closed when nothing more arrives
}

// readDirect puts the frames that arrive over a direct connection into the end's inbox, and closes
// the inbox when the connection ends. It calls used, which may be nil, before the first
// frame; without any frame, the inbox stays open, because the source uses the gateway.
func (n *end) readDirect(conn net.Conn, used func()) {
	var head [idSize]byte
	for {
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			break
		}
		size := binary.LittleEndian.Uint32(head[:])
		if size == 0 || size > maxBody {
			break
		}
		f := newFrame(n.id)
		f.buf = f.buf[:idSize+size]
		if _, err := io.ReadFull(conn, f.Body()); err != nil {
			f.Free()
			break
		}
		if used != nil {
			used()
			used = nil
		}
		n.in.Put(f)
	}
	if used == nil {
		n.in.Close(errDirectLost)
	}
}

// send implements [Send]. Only one goroutine may call it.
func (d *directConn) send(ctx context.Context, f *Frame) error {
	defer f.Free()
	f.SetID(uint32(len(f.Body())))
	d.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	if _, err := d.conn.Write(f.Bytes()); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: %w", errDirectLost, err)
	}
	return nil
}

// closeRaw closes a connection without TLS's closing alert, which would wait for an end that does
// not read.
func closeRaw(c net.Conn) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	c.Close()
}

// prepareDirect prepares an end for a direct connection; the zero value means that none exists.
func prepareDirect[T any](e *Ends, s *protocol.TransferStream, prepare func() (T, error)) (end T) {
	if e.options.Direct == nil || s.Peer == nil {
		return end
	}
	end, err := prepare()
	if err != nil {
		e.options.Log.Warn("Direct connection unavailable", "transfer", s.ID, "err", err)
	}
	return end
}

// dialDirect connects a source to the destination; nil if that fails. The connection ends with ctx.
func (e *Ends) dialDirect(ctx context.Context, n *end, call Caller, destination *protocol.TransferPeer) *directConn {
	if call == nil || destination == nil {
		return nil
	}
	conn, err := call.Dial(ctx, *destination)
	if err != nil {
		e.options.Log.Info("Direct connection failed", "transfer", n.id, "err", err)
		return nil
	}
	e.options.Log.Info("Connected directly", "transfer", n.id)
	d := &directConn{conn: conn, closed: make(chan struct{})}
	crash.WhenDone(ctx, func() { closeRaw(conn) })
	e.wg.Go(func() {
		defer close(d.closed)
		defer closeRaw(conn)
		n.readDirect(conn, nil)
	})
	return d
}

// acceptDirect lets the source connect, which may send over that connection or through the gateway.
// The returned function sends the destination's frames the same way. wait returns when the
// listener and its connection have ended, after ctx.
func (e *Ends) acceptDirect(ctx context.Context, n *end, listen Listener) (send Send, wait func()) {
	var current atomic.Pointer[directConn]
	closed := make(chan struct{})
	e.wg.Go(func() {
		defer close(closed)
		conn, err := listen.Accept(ctx)
		if err != nil {
			return
		}
		stop := crash.WhenDone(ctx, func() { closeRaw(conn) })
		defer stop()
		defer closeRaw(conn)
		n.readDirect(conn, func() {
			current.Store(&directConn{conn: conn})
			n.sendRoute(ctx, routeDirect)
		})
	})
	send = func(ctx context.Context, f *Frame) error {
		if d := current.Load(); d != nil {
			return d.send(ctx, f)
		}
		return e.options.Peer.SendFrame(ctx, f)
	}
	return send, func() { <-closed }
}

// sendRoute sends a route record to the gateway.
func (n *end) sendRoute(ctx context.Context, route byte) {
	sendRecord(ctx, n.id, n.peer.SendFrame, recRoute, []byte{route}) // an error means that the connection to the gateway is lost too
}

// ParseRoute looks for a report about the direct connection in a frame: the source's data arrives
// over it, or it is lost.
func ParseRoute(f *Frame) (direct, lost bool) {
	records(f.Body(), func(kind byte, payload []byte) error {
		if kind == recRoute && len(payload) == 1 {
			direct, lost = payload[0] == routeDirect, payload[0] == routeLost
		}
		return nil
	})
	return direct, lost
}
