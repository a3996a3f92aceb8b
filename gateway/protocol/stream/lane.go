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

// errApart says that there is no direct connection, or none any more: the transfer goes on through the gateway.
var errApart = errors.New("the machines do not reach each other directly")

// errArrived says that the destination has everything.
var errArrived = errors.New("everything has arrived")

// lane carries a transfer's frames over a connection of its own. What is the transfer's number on the way through the gateway is the length of the
// body here; a frame without a body only says that the end is there.
type lane struct {
	id   uint32 // of the frames that it gives
	conn net.Conn
	in   *Inbox // what came; it ends with errArrived or errApart
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu sync.Mutex // one frame at a time is written
}

// newLane owns the connection from now on. It ends with ctx; close it in any case.
func newLane(ctx context.Context, conn net.Conn, id uint32) *lane {
	ctx, stop := context.WithCancel(ctx)
	l := &lane{id: id, conn: conn, in: NewInbox(Window), stop: stop}
	l.wg.Go(func() { l.in.Close(l.read()) })
	l.wg.Go(func() { l.beat(ctx) })
	return l
}

// close ends the connection and waits.
func (l *lane) close() {
	l.stop()
	l.wg.Wait()
}

func apart(err error) error { return fmt.Errorf("%w: %w", errApart, err) }

// read takes what comes until the connection ends.
func (l *lane) read() error {
	var head [idSize]byte
	for {
		l.conn.SetReadDeadline(time.Now().Add(laneQuiet))
		if _, err := io.ReadFull(l.conn, head[:]); err != nil {
			return apart(err)
		}
		switch n := binary.LittleEndian.Uint32(head[:]); {
		case n == 0:
		case n == laneGot:
			return errArrived
		case n > maxBody:
			return broken("a frame is too long")
		default:
			f := newFrame(l.id)
			f.buf = f.buf[:idSize+n]
			if _, err := io.ReadFull(l.conn, f.Body()); err != nil {
				f.Free()
				return apart(err)
			}
			l.in.Put(f)
		}
	}
}

// beat says from time to time that this end is there, whatever else it does, until ctx ends; then it ends the connection. There is no farewell: TLS's
// would wait for an end that does not read, and what counts as an end is said by a frame.
func (l *lane) beat(ctx context.Context) {
	raw := l.conn
	if t, ok := raw.(interface{ NetConn() net.Conn }); ok {
		raw = t.NetConn()
	}
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

// finish is the destination's: it says that it has everything, and gives the source a moment to hear it.
func (l *lane) finish(ctx context.Context) {
	if l.write(binary.LittleEndian.AppendUint32(nil, laneGot)) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, laneLinger)
	defer cancel()
	for {
		f, err := l.in.Next(ctx)
		if err != nil {
			return
		}
		f.Free()
	}
}

// finished is the source's: it waits until the destination has everything.
func (l *lane) finished(ctx context.Context) error {
	for {
		f, err := l.in.Next(ctx)
		switch {
		case err == nil:
			f.Free()
		case errors.Is(err, errArrived):
			return nil
		default:
			return err
		}
	}
}
