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
	// laneBeat is the interval of heartbeats; laneQuiet is the maximum silence of the other end,
	// and its time limit for reading a frame.
	laneBeat  = 5 * time.Second
	laneQuiet = 20 * time.Second
	// laneLinger is the time for which the destination waits for the source to close the connection
	// first, so that its last message arrives.
	laneLinger = time.Second
	// laneGot, in place of a length, is the destination's last message: it has everything.
	laneGot = math.MaxUint32
)

// errApart reports that the ends have no connection of their own (any more): the transfer continues
// through the gateway.
var errApart = errors.New("the ends do not reach each other")

// lane carries a transfer's frames over a connection of its own. In place of the transfer's number,
// a frame begins with the length of its body. A frame without a body is a heartbeat.
type lane struct {
	n    *end // receives the frames
	conn net.Conn
	stop context.CancelFunc
	over chan struct{} // closed when nothing more arrives
	once sync.Once
	wg   sync.WaitGroup

	mu sync.Mutex // serializes writes of frames
}

// newLane takes ownership of the connection. It can send at once and starts reading with listen. It
// ends with ctx; the caller must close it in any case.
func newLane(ctx context.Context, conn net.Conn, n *end) *lane {
	ctx, stop := context.WithCancel(ctx)
	l := &lane{n: n, conn: conn, stop: stop, over: make(chan struct{})}
	l.wg.Go(func() { l.beat(ctx) })
	return l
}

// listen starts reading; it reports false if it was called before.
func (l *lane) listen() (first bool) {
	l.once.Do(func() {
		first = true
		l.wg.Go(func() {
			defer close(l.over)
			way := byte(laneArrived)
			if !l.read() {
				way = laneLost
				bottom(l.conn).Close() // aborts a blocked write
			}
			f := newFrame(l.n.id)
			f.buf = append(f.buf, recRoute, 1, 0, 0, 0, way)
			l.n.in.Put(f)
		})
	})
	return first
}

// close closes the connection and waits.
func (l *lane) close() {
	l.stop()
	l.wg.Wait()
}

func apart(err error) error { return fmt.Errorf("%w: %w", errApart, err) }

// read receives frames until the connection ends, or until the destination has everything; then it
// reports true.
func (l *lane) read() (arrived bool) {
	var head [idSize]byte
	for {
		l.conn.SetReadDeadline(time.Now().Add(laneQuiet))
		if _, err := io.ReadFull(l.conn, head[:]); err != nil {
			return false
		}
		switch n := binary.LittleEndian.Uint32(head[:]); {
		case n == 0:
		case n == laneGot:
			return true
		case n > maxBody:
			return false
		default:
			f := newFrame(l.n.id)
			f.buf = f.buf[:idSize+n]
			if _, err := io.ReadFull(l.conn, f.Body()); err != nil {
				f.Free()
				return false
			}
			l.n.in.Put(f)
		}
	}
}

// beat sends heartbeats until ctx ends, and then closes the connection, without TLS's closing
// alert: that would wait for an end that does not read, and the regular end of a transfer is a
// frame of its own.
func (l *lane) beat(ctx context.Context) {
	raw := bottom(l.conn)
	tick := time.NewTicker(laneBeat)
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

// bottom returns the connection below TLS.
func bottom(c net.Conn) net.Conn {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		return t.NetConn()
	}
	return c
}

func (l *lane) write(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn.SetWriteDeadline(time.Now().Add(laneQuiet))
	if _, err := l.conn.Write(b); err != nil {
		return apart(err)
	}
	return nil
}

// send implements [Send].
func (l *lane) send(ctx context.Context, f *Frame) error {
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
func (l *lane) finish() {
	if l.write(binary.LittleEndian.AppendUint32(nil, laneGot)) != nil {
		return
	}
	linger := time.NewTimer(laneLinger)
	defer linger.Stop()
	select {
	case <-l.over:
	case <-linger.C:
	}
}
