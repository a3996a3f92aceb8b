package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"
)

const (
	// heartbeatEvery is the interval of heartbeats; laneQuiet is the maximum silence of the other
	// end, and its time limit for reading a frame.
	heartbeatEvery = 5 * time.Second
	silenceLimit   = 20 * time.Second
	// closeWait is the time for which the destination waits for the source to close the connection
	// first, so that its last message arrives.
	closeWait = time.Second
	// acknowledgement, in place of a length, is the destination's last message: it has everything.
	acknowledgement = math.MaxUint32
)

// errRouteLost reports that the ends have no connection of their own (any more): the transfer
// continues through the gateway.
var errRouteLost = errors.New("the direct connection was lost")

// directConn carries a transfer's frames over a connection of its own. In place of the transfer's
// number, a frame begins with the length of its body. A frame without a body is a heartbeat.
type directConn struct {
	end    *end // receives the frames
	conn   net.Conn
	stop   context.CancelFunc
	closed chan struct{} // closed when nothing more arrives
	once   sync.Once
	wg     sync.WaitGroup

	mu sync.Mutex // serializes writes of frames
}

// newDirectConn takes ownership of the connection. It can send at once and starts reading with
// listen. It ends with ctx; the caller must close it in any case.
func newDirectConn(ctx context.Context, conn net.Conn, n *end) *directConn {
	ctx, stop := context.WithCancel(ctx)
	l := &directConn{end: n, conn: conn, stop: stop, closed: make(chan struct{})}
	l.wg.Go(func() { l.sendHeartbeats(ctx) })
	return l
}

// listen starts reading; it reports false if it was called before.
func (l *directConn) listen() (first bool) {
	l.once.Do(func() {
		first = true
		l.wg.Go(func() {
			defer close(l.closed)
			way := byte(routeAcknowledged)
			if !l.read() {
				way = routeClosed
				rawConn(l.conn).Close() // aborts a blocked write
			}
			f := newFrame(l.end.id)
			f.buf = append(f.buf, recRoute, 1, 0, 0, 0, way)
			l.end.in.Put(f)
		})
	})
	return first
}

// close closes the connection and waits.
func (l *directConn) close() {
	l.stop()
	l.wg.Wait()
}

func routeLost(err error) error { return fmt.Errorf("%w: %w", errRouteLost, err) }

// read receives frames until the connection ends, or until the destination has everything; then it
// reports true.
func (l *directConn) read() (arrived bool) {
	var head [idSize]byte
	for {
		l.conn.SetReadDeadline(time.Now().Add(silenceLimit))
		if _, err := io.ReadFull(l.conn, head[:]); err != nil {
			return false
		}
		switch n := binary.LittleEndian.Uint32(head[:]); {
		case n == 0:
		case n == acknowledgement:
			return true
		case n > maxBody:
			return false
		default:
			f := newFrame(l.end.id)
			f.buf = f.buf[:idSize+n]
			if _, err := io.ReadFull(l.conn, f.Body()); err != nil {
				f.Free()
				return false
			}
			l.end.in.Put(f)
		}
	}
}

// sendHeartbeats sends heartbeats until ctx ends, and then closes the connection, without TLS's
// closing alert: that would wait for an end that does not read, and the regular end of a transfer
// is a frame of its own.
func (l *directConn) sendHeartbeats(ctx context.Context) {
	raw := rawConn(l.conn)
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	var beats sync.WaitGroup
	defer beats.Wait()
	defer raw.Close() // aborts a blocked heartbeat
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			beats.Go(func() { l.write(make([]byte, idSize)) })
		}
	}
}

// rawConn returns the connection below TLS.
func rawConn(c net.Conn) net.Conn {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		return t.NetConn()
	}
	return c
}

func (l *directConn) write(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn.SetWriteDeadline(time.Now().Add(silenceLimit))
	if _, err := l.conn.Write(b); err != nil {
		return routeLost(err)
	}
	return nil
}

// send implements [Send].
func (l *directConn) send(ctx context.Context, f *Frame) error {
	defer f.Free()
	f.SetID(uint32(len(f.Body())))
	err := l.write(f.Bytes())
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// finish is called by the destination: it sends the last message and gives the source a moment to
// read it and to close the connection.
func (l *directConn) finish() {
	if l.write(binary.LittleEndian.AppendUint32(nil, acknowledgement)) != nil {
		return
	}
	linger := time.NewTimer(closeWait)
	defer linger.Stop()
	select {
	case <-l.closed:
	case <-linger.C:
	}
}
