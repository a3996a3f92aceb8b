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
	// laneBeat is how often an end says that it is there, laneQuiet how long it may be silent, or take to read what it is sent.
	laneBeat  = 5 * time.Second
	laneQuiet = 20 * time.Second
	// laneLinger is how long the destination waits for the source to end the connection first, so that its last word gets through.
	laneLinger = time.Second
	// laneGot in place of a length is the destination's last word: it has everything.
	laneGot = math.MaxUint32
)

// errApart says that the ends have no connection of their own, or none any more: the transfer goes on through the gateway.
var errApart = errors.New("the ends do not reach each other")

// lane carries a transfer's frames over a connection of its own. What is the transfer's number on the way through the gateway is the length of the
// body here; a frame without a body only says that the end is there.
type lane struct {
	n    *end // gets the frames that come
	conn net.Conn
	stop context.CancelFunc
	over chan struct{} // closed when nothing more comes
	once sync.Once
	wg   sync.WaitGroup

	mu sync.Mutex // one frame at a time is written
}

// newLane owns the connection from now on, and sends; it reads from listen on. It ends with ctx; close it in any case.
func newLane(ctx context.Context, conn net.Conn, n *end) *lane {
	ctx, stop := context.WithCancel(ctx)
	l := &lane{n: n, conn: conn, stop: stop, over: make(chan struct{})}
	l.wg.Go(func() { l.beat(ctx) })
	return l
}

// listen begins to read; it is false when that was so already.
func (l *lane) listen() (first bool) {
	l.once.Do(func() {
		first = true
		l.wg.Go(func() {
			defer close(l.over)
			way := byte(laneArrived)
			if !l.read() {
				way = laneLost
				bottom(l.conn).Close() // ends what is being written
			}
			f := newFrame(l.n.id)
			f.buf = append(f.buf, recRoute, 1, 0, 0, 0, way)
			l.n.in.Put(f)
		})
	})
	return first
}

// close ends the connection and waits.
func (l *lane) close() {
	l.stop()
	l.wg.Wait()
}

func apart(err error) error { return fmt.Errorf("%w: %w", errApart, err) }

// read takes what comes until the connection ends, or the destination has everything, which is true.
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

// beat says from time to time that this end is there, whatever else it does, until ctx ends; then it ends the connection. There is no farewell: TLS's
// would wait for an end that does not read, and what counts as an end is said by a frame.
func (l *lane) beat(ctx context.Context) {
	raw := bottom(l.conn)
	tick := time.NewTicker(laneBeat)
	defer tick.Stop()
	var beats sync.WaitGroup
	defer beats.Wait()
	defer raw.Close() // ends a beat that is under way
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			beats.Go(func() { l.write(make([]byte, idSize)) })
		}
	}
}

// bottom is the connection below TLS.
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

// send is [Send].
func (l *lane) send(ctx context.Context, f *Frame) error {
	defer f.Free()
	f.SetID(uint32(len(f.Body())))
	err := l.write(f.Bytes())
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// finish is the destination's: it says that it has everything, and gives the source a moment to hear it and to hang up.
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
